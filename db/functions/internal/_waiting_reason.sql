create or replace function forebay._waiting_reason(p_task forebay.tasks, p_now timestamptz)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first rule that keeps an enqueued task from starting: one of all its agent's tasks, or of its place in line.
--
-- Returns  reason and ahead; where the rule compares numbers these too, and the rule in words as explanation
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_now);
    v_found forebay.task_explanation;
begin
    v_found.reason := (forebay._agent_state(v_agent, p_now)).reason;
    if not forebay._may_dispatch() then
        v_found.reason := 'not_open';
    elsif v_found.reason not in ('closed', 'paused', 'held_up') and p_task.available_at > p_now then
        v_found.reason := case when p_task.deferral_count > 0 then 'deferred' else 'delayed' end;
    elsif v_found.reason = 'full' then
        v_found := forebay._told((
            null, 'full', p_task.task_id, v_agent.agent, 'tasks', 1, v_agent.max_concurrent_tasks - forebay._in_use(v_agent.agent),
            v_agent.max_concurrent_tasks, null
        )::forebay.fit, p_task);
    elsif v_found.reason = 'out_of_requests' then
        v_found := forebay._told((
            null, 'out_of_requests', p_task.task_id, v_agent.agent, 'claims', 1, (forebay._levels(v_agent, p_now)).requests,
            v_agent.max_rpm, interval '1 minute'
        )::forebay.fit, p_task);
    elsif v_found.reason not in ('closed', 'paused', 'held_up') then
        v_found := forebay._place_in_line(p_task, v_agent, p_now);
    end if;
    if v_found.reason in ('held_up', 'ready', 'behind_others') and forebay._launcher_words(v_agent.launcher, p_now) is not null then
        v_found.reason := 'unreachable';
    end if;
    if v_found.reason not in ('delayed', 'deferred') then
        v_found.ahead := forebay._count_ahead(p_task, p_now);
    end if;
    return v_found;
end;
$function$;

comment on function forebay._waiting_reason is 'The first rule that keeps an enqueued task from starting: one of all its agent''s tasks, or of its place in line.';
