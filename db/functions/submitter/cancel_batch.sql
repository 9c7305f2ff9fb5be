create or replace function forebay.cancel_batch(p_batch_id bigint, p_actor text, p_reason text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel what is left of p_actor's batch, as cancel does for single tasks.
--
-- Returns    one row a task of the batch, by id
-- Writes     forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._cancel(
        array(select t.task_id from forebay.tasks as t where t.batch_id = p_batch_id), p_reason, p_actor
    );
end;
$function$;

comment on function forebay.cancel_batch is 'Cancel what is left of p_actor''s batch, as cancel does for single tasks.';
