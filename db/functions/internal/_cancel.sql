create or replace function forebay._cancel(p_task_ids bigint[], p_reason text, p_actor text)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel tasks that wait or run. Their slots are free at once; their tokens stay charged until they are settled.
--
-- Returns  one row a distinct id, by id; effect is cancelled, none (it had ended) or unknown
-- Writes   forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks    the tasks, by id, then their attempts, by id
-- Errors   22023  p_task_ids is null
declare
    v_ids       bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_cancelled bigint[];
    v_now       timestamptz;
begin
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    update forebay.task_attempts as a
    set status = 'cancelled', finished_at = greatest(v_now, a.started_at), is_stop_pending = a.run_ended_at is null
    where a.finished_at is null
        and a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_ids));

    with cancelled as (
        update forebay.tasks as t
        set status = 'cancelled', finished_at = greatest(v_now, t.created_at), attempt_id = null, locked_by = null
        where t.task_id = any(v_ids) and t.status in ('enqueued', 'processing')
        returning t.task_id
    )
    select coalesce(array_agg(c.task_id), '{}') into v_cancelled from cancelled as c;
    perform forebay._audit('cancel', v_cancelled, null, p_reason, p_actor);

    return query select * from forebay._effects(v_ids, v_cancelled, 'cancelled');
end;
$function$;

comment on function forebay._cancel is 'Cancel tasks that wait or run. Their slots are free at once; their tokens stay charged until they are settled.';
