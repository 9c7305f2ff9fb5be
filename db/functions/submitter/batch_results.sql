create or replace function forebay.batch_results(
    p_batch_id      bigint,
    p_actor         text,
    p_task_ids      bigint[] default null,
    p_after_task_id bigint default null,
    p_limit         integer default 1000
)
    returns setof forebay.batch_result
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List what went into the tasks of p_actor's batch and what came out: the next page is that after the last id of this one.
--
-- A result has up to 1 MiB: ask for few at a time.
--
-- Returns    one row a task, by id; those of p_task_ids that are in the batch, all of it where that is null
-- Errors     22023  p_batch_id or p_actor is null, or p_limit is not from 1 to 1,000
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._batch_results(p_batch_id, p_task_ids, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.batch_results is 'List what went into the tasks of p_actor''s batch and what came out: the next page is that after the last id of this one.';
