create or replace function forebay.explain_task(p_task_id bigint)
    returns forebay.task_explanation
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say why a task waits and until when, or what became of it.
--
-- waiting_until is the first moment at which a dequeue takes the task if nothing else changes, to the microsecond: what
-- dequeue asks is asked for later moments. Null: others have to start or end before, or nothing is known to end the wait.
--
-- Returns    one row; reason is not_open, closed, paused, held_up (its agent's launches fail), delayed, deferred (refused by a
--            provider), full, out_of_requests, out_of_tokens, quota, spend_cap, reserved (for a task that nobody passes),
--            unreachable (what runs it), behind_others or ready while it waits, lease_expired, unlaunched or running while
--            it is processing, else its status
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_viewer
declare
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_answer forebay.task_explanation;
begin
    if v_task.status = 'enqueued' then
        v_answer := forebay._explain_waiting(v_task);
    elsif v_task.status = 'processing' then
        v_answer := forebay._explain_running(v_task);
    else
        v_answer.reason := v_task.status;
        v_answer.explanation := format(
            'It ended as %s at %s after %s%s.', v_task.status, forebay._moment_words(v_task.finished_at, forebay._now()),
            case v_task.attempt_no when 1 then '1 attempt' else v_task.attempt_no || ' attempts' end,
            coalesce(': ' || nullif(rtrim(v_task.error ->> 'message', '. '), ''), '')
        );
    end if;
    v_answer.task_id := v_task.task_id;
    v_answer.status := v_task.status;
    return v_answer;
end;
$function$;

comment on function forebay.explain_task is 'Say why a task waits and until when, or what became of it.';
