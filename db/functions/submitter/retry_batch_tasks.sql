create or replace function forebay.retry_batch_tasks(
    p_batch_id bigint,
    p_actor    text,
    p_statuses text[] default null,
    p_task_ids bigint[] default null,
    p_reason   text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed or cancelled tasks of p_actor's batch back in line: those of these statuses and ids alone.
--
-- Null statuses or ids let every one through; with both null it is retry_batch. Ids of other batches are left out.
--
-- Returns    one row a task of the batch that is meant, by id
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  p_batch_id or p_actor is null, or a status is none
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    perform forebay._require_statuses(p_statuses);
    return query select * from forebay._retry(
        array(
            select t.task_id from forebay.tasks as t
            where t.batch_id = p_batch_id
                and (p_statuses is null or t.status = any(p_statuses))
                and (p_task_ids is null or t.task_id = any(p_task_ids))
        ),
        null, p_reason, p_actor
    );
end;
$function$;

comment on function forebay.retry_batch_tasks is
'Put failed or cancelled tasks of p_actor''s batch back in line: those of these statuses and ids alone.';
