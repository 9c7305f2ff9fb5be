create or replace function forebay._never_ran(p_attempt forebay.task_attempts)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether an attempt that has ended had no machine, by all that is known: it was handed back, or its launch was refused for good.
--
-- One that has a run, or reported anything, had one all the same; so had whatever a pull worker claimed. It may have had one
-- where a try of its launch had no clear answer.
select p_attempt.run_id is null and p_attempt.launcher <> 'pull'
    and p_attempt.reported_at is null and p_attempt.used_calls = 0
    and p_attempt.run_state -> 'is_unclear' is null
    and (
        p_attempt.status = 'released'
        or p_attempt.status in ('failed', 'lost') and p_attempt.run_ended_at <= p_attempt.finished_at
        and p_attempt.run_state ->> 'life_cycle_state' = 'LAUNCH_FAILED'
    );
$function$;

comment on function forebay._never_ran is
'Whether an attempt that has ended had no machine, by all that is known: it was handed back, or its launch was refused for good.';
