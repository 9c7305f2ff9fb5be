create or replace function forebay._is_expired(
    p_attempt        forebay.task_attempts,
    p_now            timestamptz,
    p_adoption_grace interval,
    p_report_grace   interval
)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether an open attempt has lost its right to the task: deadline passed, lease run out, or run ended without a report.
select
    p_attempt.deadline_at <= p_now
    or p_attempt.run_ended_at + p_report_grace <= p_now
    or p_attempt.lease_expires_at
    + case when forebay._is_external(p_attempt.launcher) then p_adoption_grace else interval '0' end <= p_now;
$function$;

comment on function forebay._is_expired is 'Whether an open attempt has lost its right to the task: deadline passed, lease run out, or run ended without a report.';
