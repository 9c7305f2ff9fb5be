create or replace function forebay.batch_progress(p_batch_id bigint)
    returns forebay.batch_progress
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How far a batch has come: its tasks by status.
--
-- Returns    one row; finished_at is when the last task ended, null while one waits or runs or there is none
-- Errors     22023  p_batch_id is null
--            QF302  no such batch
-- Called by  forebay_viewer
declare
    v_batch    forebay.batches := forebay._get_batch(p_batch_id);
    v_progress forebay.batch_progress;
begin
    select
        v_batch.batch_id, v_batch.name, v_batch.customer, v_batch.owner, v_batch.created_at, sums.tasks, sums.enqueued,
        sums.processing, sums.completed, sums.failed, sums.cancelled, sums.finished_at
    into v_progress
    from forebay._batch_sums(p_batch_id) as sums;
    return v_progress;
end;
$function$;

comment on function forebay.batch_progress is 'How far a batch has come: its tasks by status.';
