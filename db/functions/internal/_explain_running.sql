create or replace function forebay._explain_running(p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say who runs a processing task, and until when its lease is good; or until when its next call waits, for which quota.
--
-- Or why it has no run yet, for one whose launch has failed and is tried again.
declare
    v_now     timestamptz := forebay._now();
    v_attempt forebay.task_attempts;
    v_answer  forebay.task_explanation;
begin
    select a.* into v_attempt from forebay.task_attempts as a where a.attempt_id = p_task.attempt_id;
    v_answer.waiting_until := v_attempt.lease_expires_at;
    if v_attempt.lease_expires_at <= v_now then
        v_answer.reason := 'lease_expired';
        v_answer.explanation := format(
            'Worker %s stopped renewing its lease at %s: %s.',
            v_attempt.worker, forebay._moment_words(v_attempt.lease_expires_at, v_now),
            case
                when forebay._is_external(v_attempt.launcher) then 'another driver may adopt its run, then a sweep takes the task'
                else 'the next sweep takes the task from it'
            end
        );
    elsif v_attempt.run_id is null and v_attempt.run_state ->> 'life_cycle_state' = 'LAUNCH_FAILED' then
        v_answer.reason := 'unlaunched';
        v_answer.explanation := format(
            'Attempt %s has no run yet, and worker %s tries again: %s.', v_attempt.attempt_no, v_attempt.worker,
            rtrim(forebay._run_words(v_attempt.run_state), '. ')
        );
    else
        v_answer.reason := 'running';
        v_answer.explanation := format(
            'Attempt %s runs at worker %s since %s; its deadline is %s.', v_attempt.attempt_no, v_attempt.worker,
            forebay._moment_words(v_attempt.started_at, v_now), forebay._moment_words(v_attempt.deadline_at, v_now)
        );
        if v_attempt.call_wait_until > v_now then
            v_answer.waiting_until := v_attempt.call_wait_until;
            v_answer.subject := v_attempt.call_quota;
            v_answer.unit := 'tokens';
            v_answer.needs := (v_attempt.call_input_tokens + v_attempt.call_output_tokens)::numeric;
            v_answer.explanation := v_answer.explanation || format(
                ' Its next call, of %s tokens, waits for quota %s until %s.',
                forebay._number_words(v_answer.needs), v_attempt.call_quota,
                forebay._moment_words(v_attempt.call_wait_until, v_now)
            );
        end if;
    end if;
    return v_answer;
end;
$function$;

comment on function forebay._explain_running is
'Say who runs a processing task, and until when its lease is good; or until when its next call waits, for which quota.';
