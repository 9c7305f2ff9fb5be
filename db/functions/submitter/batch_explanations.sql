create or replace function forebay.batch_explanations(p_batch_id bigint, p_actor text, p_task_ids bigint[])
    returns setof forebay.task_explanation
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say why tasks of p_actor's batch wait, as explain_task does for one.
--
-- Of a pause they hear until when, and not why: operators write that for each other.
--
-- Returns    one row for each of p_task_ids that is in the batch and waits, by id
-- Errors     22023  an argument is null, or p_task_ids has more than 200 ids
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._batch_explanations(p_batch_id, p_task_ids);
end;
$function$;

comment on function forebay.batch_explanations is 'Say why tasks of p_actor''s batch wait, as explain_task does for one.';
