create or replace function forebay.read_batch_results(
    p_batch_id      bigint,
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
-- List what went into the tasks of anybody's batch and what came out, as batch_results does for its owner.
--
-- Returns    one row a task, by id
-- Errors     22023  p_batch_id is null, or p_limit is not from 1 to 1,000
--            QF302  no such batch
-- Called by  forebay_reader
begin
    perform forebay._get_batch(p_batch_id);
    return query select * from forebay._batch_results(p_batch_id, p_task_ids, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.read_batch_results is 'List what went into the tasks of anybody''s batch and what came out, as batch_results does for its owner.';
