create or replace function forebay.read_batch_tasks(
    p_batch_id      bigint,
    p_statuses      text[] default null,
    p_after_task_id bigint default null,
    p_limit         integer default 10000
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the tasks of anybody's batch, as batch_tasks does for its owner.
--
-- Returns    one row a task, by id
-- Errors     22023  p_batch_id is null, a status does not exist, or p_limit is not from 1 to 10,000
--            QF302  no such batch
-- Called by  forebay_reader
begin
    perform forebay._get_batch(p_batch_id);
    return query select * from forebay._batch_tasks(p_batch_id, p_statuses, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.read_batch_tasks is 'List the tasks of anybody''s batch, as batch_tasks does for its owner.';
