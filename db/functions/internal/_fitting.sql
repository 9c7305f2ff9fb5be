create or replace function forebay._fitting(
    p_agent   forebay.agents,
    p_line    forebay.lined_up[],
    p_limit   integer,
    p_now     timestamptz,
    p_learned forebay.learned default null
)
    returns forebay.fit
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which of the tasks in p_line may start now, p_limit of them at most: the one rule of admission, the agent's room aside.
--
-- In the order of the line, each that fits beside those before it may. One that does not fit is passed, unless it has
-- waited reserve_after: then nothing behind it may start. A spend cap never holds up the tasks behind. What the first tasks
-- of other agents hold of the quotas is not there.
--
-- Returns  their places in p_line, and what keeps the first of the others back; reason null: nothing does
declare
    v_fit   forebay.fit;
    v_stop  forebay.fit;
    v_level numeric := case when p_agent.max_tpm is not null then (forebay._levels(p_agent, p_now)).tokens end;
    v_rooms forebay.quota_room[] := case when p_agent.quotas <> '{}' then
        forebay._leave_room(p_agent, p_line[1], array(select r from forebay._quota_rooms(p_agent, p_now) as r), p_now)
    else '{}' end;
    v_caps  forebay.spend_cap[] := case when forebay._has_caps(p_agent) then array(
        select c from forebay._caps(p_agent, array(select distinct l.customer from unnest(p_line) as l), p_now) as c
    ) else '{}' end;
    v_pace  double precision := case when v_rooms <> '{}' then
        (case when p_learned.samples is null then forebay._learned(p_agent.agent) else p_learned end).tokens_per_second
    end::double precision;
    v_task  forebay.lined_up;
begin
    v_fit.places := array[]::integer[];
    for v_place in 1 .. cardinality(p_line) loop
        exit when cardinality(v_fit.places) = p_limit;
        v_task := p_line[v_place];
        v_stop := forebay._hindrance(p_agent, v_task, v_fit.places = '{}', v_level, v_rooms, v_caps, v_pace);
        if v_stop.reason is null then
            v_fit.places := v_fit.places || v_place;
            v_level := v_level - (v_task.uses).input_tokens - (v_task.uses).output_tokens;
            v_rooms := forebay._take_room(v_rooms, p_agent.quotas, v_task.uses, v_pace);
            v_caps := forebay._take_money(v_caps, v_task);
        else
            v_stop.places := v_fit.places;
            v_fit := case when v_fit.reason is null then v_stop else v_fit end;
            exit when v_stop.reason <> 'spend_cap' and v_task.waited >= p_agent.reserve_after;
        end if;
    end loop;
    return v_fit;
end;
$function$;

comment on function forebay._fitting is 'Which of the tasks in p_line may start now, p_limit of them at most: the one rule of admission, the agent''s room aside.';
