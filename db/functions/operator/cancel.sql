create or replace function forebay.cancel(p_task_ids bigint[], p_reason text default null, p_actor text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel tasks that wait or run; their workers are told at the next renewal, their runs are cancelled.
--
-- Returns    one row a distinct id, by id; effect is cancelled, none (it had ended) or unknown
-- Writes     forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  p_task_ids is null
-- Called by  forebay_operator
begin
    return query
    select * from forebay._cancel(p_task_ids, p_reason, p_actor);
end;
$function$;

comment on function forebay.cancel is 'Cancel tasks that wait or run; their workers are told at the next renewal, their runs are cancelled.';
