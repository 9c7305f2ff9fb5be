create or replace function forebay.batch_tasks(
    p_batch_id      bigint,
    p_actor         text,
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
-- List the tasks of p_actor's batch, without their results: the next page is that after the last id of this one.
--
-- Returns    one row a task, by id; progress and started_at are those of the attempt that runs, fields what the result has
--            under "fields" (null for more than 4 kB), llm_usd null while nothing of it is known
-- Errors     22023  p_batch_id or p_actor is null, a status does not exist, or p_limit is not from 1 to 10,000
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._batch_tasks(p_batch_id, p_statuses, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.batch_tasks is 'List the tasks of p_actor''s batch, without their results: the next page is that after the last id of this one.';
