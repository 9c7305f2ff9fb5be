create or replace function forebay._give_back(
    p_task         forebay.tasks,
    p_agent        forebay.agents,
    p_error        jsonb,
    p_retryable    boolean,
    p_retry_in     interval,
    p_is_unspent   boolean
)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Move a processing task whose attempt has ended without success: back in line, or to failed.
--
-- p_retry_in null means the agent's backoff; p_is_unspent takes the attempt back, and counts a release instead.
--
-- Returns  the task's status after it
-- Writes   forebay.tasks
declare
    v_now       timestamptz := forebay._now();
    v_may_retry boolean := p_is_unspent
        or p_retryable and forebay._may_retry(p_agent, p_task.attempt_count, p_task.max_attempts);
    v_delay     interval := coalesce(
        forebay._exact(p_retry_in), forebay._backoff(p_agent.backoff_base, p_agent.backoff_max, p_task.attempt_count)
    );
begin
    update forebay.tasks as t
    set status = case when v_may_retry then 'enqueued' else 'failed' end,
        attempt_id = null, locked_by = null,
        attempt_count = t.attempt_count - p_is_unspent::integer,
        release_count = t.release_count + p_is_unspent::integer,
        error = case when p_is_unspent then t.error else p_error end,
        finished_at = case when not v_may_retry then greatest(v_now, t.created_at) end,
        available_at = case when v_may_retry then v_now + v_delay else t.available_at end,
        is_ready = v_may_retry and v_delay = interval '0'
    where t.task_id = p_task.task_id;
    return case when v_may_retry then 'enqueued' else 'failed' end;
end;
$function$;

comment on function forebay._give_back is 'Move a processing task whose attempt has ended without success: back in line, or to failed.';
