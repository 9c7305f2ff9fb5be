create or replace function forebay._agent_outlook(
    p_agent        text,
    p_batch_id     bigint,
    p_now          timestamptz,
    out is_needed  boolean,
    out ahead      bigint,
    out tokens     bigint,
    out per_minute numeric,
    out limited_by text,
    out time_left  interval
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an agent still has to do for a batch, and how long that will take; is_needed is false where it has nothing to do.
--
-- ahead counts tasks of others before the batch's last one in line, up to 100,000 of a priority; tokens is what the
-- batch's tasks in line are expected to use. What runs now has to end too. Each limit's time is what has to start, less its
-- room now, by what it lets pass a minute. A pause comes on top of it, and a cap of spending until it is over.
declare
    v_agent forebay.agents := forebay._get_effective(p_agent, p_now);
    v_open  record;
    v_last  forebay.tasks;
    v_use   forebay.expected_use;
    v_limit record;
    v_halt  record;
begin
    select o.* into v_open from forebay._open_tasks(p_batch_id, v_agent) as o;
    is_needed := v_open.waiting + v_open.running > 0;
    ahead := 0;
    tokens := 0;
    if not is_needed then
        return;
    end if;

    per_minute := forebay._finished_per_minute(v_agent.agent, p_now);
    if v_open.waiting > 0 then
        select t.* into v_last from forebay.tasks as t
        where t.batch_id = p_batch_id and t.agent = v_agent.agent and t.status = 'enqueued'
        order by forebay._effective_priority(v_agent, t, p_now), t.created_at desc, t.task_id desc
        limit 1;
        ahead := greatest(0, coalesce(
            forebay._count_ahead(v_last, p_now, 100000), forebay._count_turns(v_last)
        ) - v_open.waiting + 1);
        v_use := forebay._expect(v_agent, forebay._learned(v_agent.agent), v_open.estimate);
        tokens := v_open.waiting * (v_use.input_tokens + v_use.output_tokens);
    end if;
    time_left := make_interval(secs => (60 * (ahead + v_open.waiting + forebay._in_use(v_agent.agent)) / per_minute)::double precision);

    select r.* into v_limit
    from forebay._passing(v_agent, v_use, ahead + v_open.waiting, p_now) as r
    order by r.takes desc
    limit 1;
    if found and (v_limit.takes is null or v_limit.takes > time_left) then
        time_left := v_limit.takes;
        limited_by := v_limit.words;
    end if;
    select h.* into v_halt from forebay._halt(v_agent, v_last, p_now) as h;
    if v_halt.words is not null then
        limited_by := v_halt.words;
        time_left := time_left + v_halt.lasts;
    end if;
    if v_open.due_at - p_now > time_left then
        time_left := v_open.due_at - p_now;
    end if;
end;
$function$;

comment on function forebay._agent_outlook is 'What an agent still has to do for a batch, and how long that will take; is_needed is false where it has nothing to do.';
