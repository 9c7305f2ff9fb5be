create or replace function forebay._held_up_deadline(
    p_attempt forebay.task_attempts,
    p_agent   forebay.agents,
    p_now     timestamptz
)
    returns timestamptz
    language sql
    stable
    security invoker
as $function$
-- The deadline of an attempt that cannot begin now: its whole timeout is still to come, but nothing waits for ever.
--
-- A minute at least, however short the timeout: a daemon may need so long for its next look.
select greatest(
    p_attempt.deadline_at,
    least(p_now, p_attempt.started_at + forebay._exact(p_agent.max_deferral_time)) + greatest(p_agent.timeout, interval '1 minute')
);
$function$;

comment on function forebay._held_up_deadline is
'The deadline of an attempt that cannot begin now: its whole timeout is still to come, but nothing waits for ever.';
