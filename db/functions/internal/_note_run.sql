create or replace function forebay._note_run(
    p_attempt forebay.task_attempts,
    p_agent   forebay.agents,
    p_outcome forebay.run_outcomes,
    p_run     jsonb,
    p_now     timestamptz
)
    returns forebay.task_attempts
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Write down what was seen of an attempt's run, when it was first seen ended, and until when it may wait; the caller holds it.
--
-- p_outcome is what run_outcomes says of p_run. A look that failed says nothing about the run: what was last seen of it is
-- kept beside it, as last_seen, and goes on to hold it up.
--
-- Returns  the attempt as it is now
-- Writes   forebay.task_attempts
declare
    v_last       jsonb := forebay._last_seen(p_attempt.run_state, p_run);
    v_is_held_up boolean := p_outcome.is_held_up;
    v_may_run    boolean := forebay._may_have_run(p_attempt, p_run, p_now);
    v_attempt    forebay.task_attempts;
begin
    if v_last is not null then
        v_is_held_up := (forebay._run_outcome(p_attempt.launcher, v_last)).is_held_up;
    end if;
    update forebay.task_attempts as a
    set run_state = p_run - '{last_seen, is_unclear}'::text[] || jsonb_strip_nulls(
            jsonb_build_object(
                'last_seen', v_last,
                'is_unclear', case when a.run_id is null then forebay._is_unclear(a.run_state, p_run) end
            )
        ),
        run_ended_at = case
            when p_outcome.is_ended and not v_may_run then coalesce(a.run_ended_at, p_now)
            when v_last is not null or p_run ->> 'life_cycle_state' = 'LAUNCH_FAILED' then a.run_ended_at
        end,
        is_stop_pending = a.is_stop_pending and (v_may_run or not p_outcome.is_ended),
        deadline_at = case
            when v_is_held_up and a.finished_at is null and a.deadline_at > p_now
                and (a.run_id is null or p_run ->> 'life_cycle_state' <> 'LAUNCH_FAILED')
                then forebay._held_up_deadline(a, p_agent, p_now)
            else a.deadline_at
        end
    where a.attempt_id = p_attempt.attempt_id
    returning a.* into v_attempt;
    return v_attempt;
end;
$function$;

comment on function forebay._note_run is
'Write down what was seen of an attempt''s run, when it was first seen ended, and until when it may wait; the caller holds it.';
