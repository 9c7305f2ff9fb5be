create or replace function forebay._report_effect(
    p_is_success   boolean,
    p_is_current   boolean,
    p_task_status  text,
    p_attempt      forebay.task_attempts,
    p_late_results text
)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- What a report means: the one table of it.
--
-- Returns  completed, kept (the result goes to the attempt), given_back, recorded (the error goes to the attempt) or none
select case
    when p_is_current then case when p_is_success then 'completed' else 'given_back' end
    when p_task_status in ('completed', 'failed', 'cancelled') or p_attempt.status = 'cancelled'
        then case when p_is_success then 'kept' else 'none' end
    when p_attempt.status = 'failed' and p_attempt.reported_at is not null
        then case when p_is_success then 'completed' else 'none' end
    when not p_is_success then 'recorded'
    when p_late_results = 'accept' then 'completed'
    else 'kept'
end;
$function$;

comment on function forebay._report_effect is 'What a report means: the one table of it.';
