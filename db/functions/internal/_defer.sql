create or replace function forebay._defer(p_task forebay.tasks, p_agent forebay.agents, p_error jsonb, p_wait interval)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put a processing task whose attempt was refused back in line without spending the attempt.
--
-- p_wait null means the agent's backoff, by how often the task was deferred.
--
-- Returns  the task's status after it
-- Writes   forebay.tasks
declare
    v_now   timestamptz := forebay._now();
    v_delay interval := coalesce(
        forebay._exact(p_wait), forebay._backoff(p_agent.backoff_base, p_agent.backoff_max, p_task.deferral_count + 1)
    );
begin
    update forebay.tasks as t
    set status = 'enqueued', attempt_id = null, locked_by = null, error = p_error,
        attempt_count = t.attempt_count - 1,
        deferral_count = t.deferral_count + 1,
        deferred_since = coalesce(t.deferred_since, v_now),
        available_at = v_now + v_delay,
        is_ready = v_delay = interval '0'
    where t.task_id = p_task.task_id;
    return 'enqueued';
end;
$function$;

comment on function forebay._defer is 'Put a processing task whose attempt was refused back in line without spending the attempt.';
