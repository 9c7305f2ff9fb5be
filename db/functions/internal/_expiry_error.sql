create or replace function forebay._expiry_error(p_attempt forebay.task_attempts, p_now timestamptz)
    returns jsonb
    language sql
    stable
    security invoker
as $function$
-- Say in words why an attempt lost its right to the task.
select case
    when p_attempt.deadline_at <= p_now then jsonb_build_object(
        'kind', 'timeout',
        'message', format('the attempt ran longer than %s', p_attempt.deadline_at - p_attempt.started_at)
    )
    when p_attempt.run_ended_at is not null then jsonb_build_object(
        'kind', 'infrastructure', 'message', format('run %s ended without a report', p_attempt.run_id)
    )
    else jsonb_build_object(
        'kind', 'infrastructure', 'message', format('lease expired: worker %s stopped renewing it', p_attempt.worker)
    )
end;
$function$;

comment on function forebay._expiry_error is 'Say in words why an attempt lost its right to the task.';
