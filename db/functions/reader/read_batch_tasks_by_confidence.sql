create or replace function forebay.read_batch_tasks_by_confidence(
    p_batch_id      bigint,
    p_after_task_id bigint default null,
    p_limit         integer default 10000
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the completed tasks of anybody's batch, the least sure first, as batch_tasks_by_confidence does for its owner.
--
-- Returns    one row a completed task, by confidence (null comes last), then by id
-- Errors     22023  p_batch_id is null, or p_limit is not from 1 to 10,000
--            QF302  no such batch
--            QF303  p_after_task_id is no completed task of the batch
-- Called by  forebay_reader
begin
    perform forebay._get_batch(p_batch_id);
    return query select * from forebay._batch_tasks_by_confidence(p_batch_id, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.read_batch_tasks_by_confidence is
'List the completed tasks of anybody''s batch, the least sure first, as batch_tasks_by_confidence does for its owner.';
