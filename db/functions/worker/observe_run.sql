create or replace function forebay.observe_run(p_attempt_id bigint, p_run jsonb)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take in what the launcher saw of an attempt's run, and let the table run_outcomes say what follows.
--
-- p_run is an object with life_cycle_state (required), result_state, termination_code and message. An unknown state
-- renews, until the attempt's deadline. A run that ended waits the report grace for its report, counted from when it was
-- first seen ended. A launch that failed is told in the same way (LAUNCH_FAILED), and a look at a run that did (POLL_FAILED):
-- result_state is then the HTTP status or UNREACHABLE, termination_code the error's code. "is_unclear": true says that an
-- earlier try of the launch had no clear answer: then no refusal says that there is no run. "is_launcher_away": true says
-- that the worker's launcher is away, whatever the job: such a launch holds up no other. While nothing can begin, or the run
-- waits for room, the deadline is put off, by the agent's max_deferral_time at most. A look that failed says nothing about
-- the run. What an ended attempt's run says pauses no agent; one may be paused while the run goes on: its lease is renewed.
--
-- Returns    renew, requeue, retry, fail or pause_agent: what was done; none when the attempt had ended before
-- Writes     forebay.task_attempts, forebay.tasks, forebay.agents
-- Locks      the agent's budget row if it may be paused, the task, then the attempt
-- Errors     22023  p_run is no object, or a key is of a wrong type
--            QF304  there is no such attempt
--            QF402  p_run is too large
-- Called by  forebay_worker
declare
    v_attempt forebay.task_attempts;
    v_outcome forebay.run_outcomes;
    v_held    forebay.held_attempt;
    v_agent   forebay.agents;
    v_limits  forebay.installation := forebay._limits();
    v_now     timestamptz;
begin
    if p_run is null or jsonb_typeof(p_run) <> 'object' then
        raise exception 'p_run must be a JSON object' using errcode = '22023';
    end if;
    perform forebay._require_document(p_run, 'p_run', v_limits.max_result_bytes);
    if forebay._json_text(p_run, 'life_cycle_state') is null then
        raise exception '"life_cycle_state" is required' using errcode = '22023';
    end if;
    v_attempt := forebay._get_attempt(p_attempt_id);
    v_outcome := forebay._run_outcome(v_attempt.launcher, p_run);
    v_agent := forebay._get_agent(v_attempt.agent);
    if v_outcome.outcome = 'pause_agent' and v_attempt.finished_at is null and v_agent.paused_until is distinct from 'infinity' then
        perform forebay._pause(
            v_attempt.agent, 'infinity', v_outcome.note || ' (' || forebay._run_words(p_run) || ')', 'observe_run'
        );
    end if;

    v_held := forebay._lock_attempt(p_attempt_id);
    v_now := forebay._now();
    v_attempt := forebay._note_run(v_held.attempt, v_agent, v_outcome, p_run, v_now);
    if v_attempt.finished_at is not null then
        return 'none';
    end if;

    if v_now < v_attempt.deadline_at and (
        v_outcome.outcome = 'renew' or v_outcome.outcome = 'pause_agent' and not v_outcome.is_ended
        or v_outcome.may_report_yet and v_now < v_attempt.run_ended_at + v_limits.report_grace
    ) then
        update forebay.task_attempts as a
        set lease_expires_at = least(v_now + v_agent.lease, a.deadline_at)
        where a.attempt_id = p_attempt_id;
        return 'renew';
    end if;

    return forebay._end_observed(v_attempt, v_held.task, v_agent, v_outcome, v_now);
end;
$function$;

comment on function forebay.observe_run is 'Take in what the launcher saw of an attempt''s run, and let the table run_outcomes say what follows.';
