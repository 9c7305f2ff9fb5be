create or replace function forebay._place_in_line(p_task forebay.tasks, p_agent forebay.agents, p_now timestamptz)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What keeps a task of an agent that has room: a rule that it would break alone, or the tasks before it.
--
-- p_agent has the limits that hold at p_now. For reserved, task_id is the task that nobody passes, and the numbers are its.
--
-- Returns  reason: out_of_tokens, quota, spend_cap, reserved, behind_others or ready
declare
    v_learned forebay.learned := forebay._learned(p_agent.agent);
    v_found   forebay.task_explanation;
    v_first   bigint;
    v_fit     forebay.fit;
begin
    v_fit := forebay._fitting(p_agent, array[forebay._lined_up(p_agent, p_task, v_learned, p_now)], 1, p_now);
    if v_fit.reason is not null then
        return forebay._told(v_fit, p_task);
    end if;
    v_first := ((forebay._pick(p_agent, 1, null, p_now, false))[1]).task_id;
    v_fit := case when v_first is null then forebay._reservation(p_agent, p_now) end;
    if v_fit.reason is not null then
        v_found := forebay._told(v_fit, p_task);
        v_found.reason := 'reserved';
    else
        v_found.reason := case when v_first = p_task.task_id then 'ready' else 'behind_others' end;
    end if;
    return v_found;
end;
$function$;

comment on function forebay._place_in_line is 'What keeps a task of an agent that has room: a rule that it would break alone, or the tasks before it.';
