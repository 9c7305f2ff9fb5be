create or replace function forebay._cost_key(
    p_dimension text,
    p_task      forebay.tasks,
    p_attempt   forebay.task_attempts,
    p_model     text
)
    returns text
    language sql
    stable
    security invoker
as $function$
-- The key of the line of cost_by that a call of an attempt is in; null: it has none, or there is no dimension.
select case p_dimension
    when 'task' then p_task.task_id::text
    when 'agent' then p_task.agent
    when 'customer' then p_task.customer
    when 'batch' then p_task.batch_id::text
    when 'model' then p_model
    when 'day' then forebay._utc_day(p_task.created_at)::text
    when 'try' then forebay._try_key(p_attempt.attempt_no, (
        select before.status from forebay.task_attempts as before
        where before.task_id = p_attempt.task_id and before.attempt_no = p_attempt.attempt_no - 1
    ))
end;
$function$;

comment on function forebay._cost_key is 'The key of the line of cost_by that a call of an attempt is in; null: it has none, or there is no dimension.';
