create or replace function forebay.retry_batch(p_batch_id bigint, p_actor text, p_reason text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put the failed and cancelled tasks of p_actor's batch back in line, as retry does for single tasks.
--
-- Returns    one row a task of the batch, by id
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._retry(
        array(select t.task_id from forebay.tasks as t where t.batch_id = p_batch_id), null, p_reason, p_actor
    );
end;
$function$;

comment on function forebay.retry_batch is 'Put the failed and cancelled tasks of p_actor''s batch back in line, as retry does for single tasks.';
