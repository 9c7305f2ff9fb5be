create or replace function forebay._count_ahead(
    p_task    forebay.tasks,
    p_now     timestamptz,
    p_at_most integer default 10000
)
    returns bigint
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks stand in line before this one, those due by p_now included; counted up to p_at_most of a
-- priority.
--
-- Where customers are served in turns it is the place among the first hundred; null behind them.
declare
    v_agent   forebay.agents := forebay._get_agent(p_task.agent);
    v_own     integer := forebay._effective_priority(v_agent, p_task, p_now);
    v_seconds numeric;
    v_before  timestamptz;
    v_below   bigint;
    v_class   integer;
    v_ahead   bigint := 0::bigint;
begin
    if v_agent.is_fair_by_customer then
        return array_position(
            array(select l.task_id from unnest(forebay._line(v_agent, 100, null, p_now, false)) as l), p_task.task_id
        )::bigint - 1;
    end if;
    for v_class in select p.priority from forebay._waiting_priorities(p_task.agent) as p (priority) loop
        exit when v_class < v_own and v_agent.aging is null;
        v_seconds := (v_own - v_class) * coalesce(extract(epoch from v_agent.aging), 0);
        v_before := case
            when v_class > v_own then 'infinity'
            when v_agent.aging is null then p_task.created_at
            when v_seconds > 3000000000 then '-infinity'
            else p_now - make_interval(secs => v_seconds::double precision)
        end;
        v_below := case when v_class = v_own and v_agent.aging is null then p_task.task_id else 9223372036854775807 end;
        v_ahead := v_ahead + (
            select count(*) from (
                select 1 from forebay.tasks as t
                where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready and t.priority = v_class
                    and (t.created_at, t.task_id) < (v_before, v_below)
                    and (v_agent.aging is null or forebay._stands_before(v_agent, t, p_task, p_now))
                limit p_at_most
            ) as earlier
        );
    end loop;
    return v_ahead + (
        select count(*) from (
            select 1 from forebay.tasks as t
            where t.agent = p_task.agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
                and forebay._stands_before(v_agent, t, p_task, p_now)
            limit p_at_most
        ) as due
    );
end;
$function$;

comment on function forebay._count_ahead is 'How many of the agent''s tasks stand in line before this one, those due by p_now included; counted up to p_at_most of a priority.';
