create or replace function forebay.batch_tasks(p_batch_id bigint, p_actor text)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the tasks of p_actor's batch, without their results.
--
-- Returns    one row a task, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query
    select
        t.task_id, t.agent, t.status, t.priority::integer, t.payload, t.attempt_count, a.progress_done, a.progress_total,
        t.confidence, t.error, t.created_at, t.finished_at
    from forebay.tasks as t
    left join forebay.task_attempts as a on a.attempt_id = t.attempt_id
    where t.batch_id = p_batch_id
    order by t.task_id;
end;
$function$;

comment on function forebay.batch_tasks is 'List the tasks of p_actor''s batch, without their results.';
