create or replace function forebay._report(
    p_attempt_id  bigint,
    p_is_success  boolean,
    p_result      jsonb,
    p_confidence  numeric,
    p_error       jsonb,
    p_retryable   boolean,
    p_retry_after interval
)
    returns forebay.reported_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take in how an attempt ended, current or not, first time or repeated; what follows is _report_effect's to say.
--
-- An attempt that had ended without success, as one that was lost, and now succeeds has run until now: its end moves, and what
-- was estimated of its machine by the old end no longer counts. The end of one that Forebay has ended for good stays. What was
-- taken never to have run, and reports, ran.
--
-- Writes  forebay.tasks, forebay.task_attempts, forebay.agent_settlements, forebay.refusals
-- Locks   the task, then the attempt and the task's current attempt, by id
-- Errors  QF304  there is no such attempt
declare
    v_held    forebay.held_attempt;
    v_task    forebay.tasks;
    v_attempt forebay.task_attempts;
    v_agent   forebay.agents;
    v_now     timestamptz;
    v_effect  text;
    v_status  text;
begin
    v_held := forebay._lock_attempt(p_attempt_id);
    v_task := v_held.task;
    v_attempt := v_held.attempt;
    v_agent := forebay._get_agent(v_task.agent);
    v_now := forebay._now();
    v_status := v_task.status;
    v_effect := forebay._report_effect(
        p_is_success, coalesce(v_task.attempt_id = p_attempt_id, false), v_task.status, v_attempt, v_agent.late_results
    );
    if v_effect = 'kept' and (p_result is not distinct from v_attempt.result or p_result is not distinct from v_task.result)
        or v_effect = 'recorded' and v_attempt.error is not distinct from p_error then
        v_effect := 'none';
    end if;

    update forebay.task_attempts as a
    set status = case v_effect when 'completed' then 'succeeded' when 'given_back' then 'failed' else a.status end,
        finished_at = case
            when v_effect in ('completed', 'given_back') then greatest(v_now, a.started_at)
            else a.finished_at
        end,
        result = case v_effect when 'kept' then p_result else a.result end,
        confidence = case v_effect when 'kept' then p_confidence else a.confidence end,
        error = case when v_effect in ('given_back', 'recorded') then p_error else a.error end,
        reported_at = coalesce(a.reported_at, v_now),
        is_stop_pending = false
    where a.attempt_id = p_attempt_id;

    if v_attempt.finished_at is not null then
        perform forebay._count_usage(p_attempt_id);
    end if;
    if v_effect = 'completed' then
        update forebay.task_attempts as a
        set status = 'superseded', finished_at = greatest(v_now, a.started_at),
            is_stop_pending = a.run_ended_at is null
        where a.attempt_id = v_task.attempt_id and a.attempt_id <> p_attempt_id;
        update forebay.tasks as t
        set status = 'completed', result = p_result, confidence = p_confidence, error = null,
            finished_at = greatest(v_now, t.created_at),
            attempt_id = null, locked_by = null
        where t.task_id = v_task.task_id;
        v_status := 'completed';
    elsif v_effect = 'given_back' then
        v_status := forebay._after_failure(v_attempt, v_task, v_agent, p_error, p_retryable, p_retry_after);
        v_effect := case v_status when 'failed' then 'failed' else 'retrying' end;
    end if;
    perform forebay._settle(p_attempt_id);
    return (p_attempt_id, v_status, v_effect)::forebay.reported_attempt;
end;
$function$;

comment on function forebay._report is 'Take in how an attempt ended, current or not, first time or repeated; what follows is _report_effect''s to say.';
