create or replace function forebay.retry(
    p_task_ids bigint[],
    p_priority integer default null,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed and cancelled tasks back in line, with fresh attempts; p_priority null keeps theirs.
--
-- Releases and deferrals are counted afresh too.
--
-- Returns    one row a distinct id, by id; effect is retried, none (nothing to retry) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the lines of the tasks' agents against a change of their definition, then the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
-- Called by  forebay_operator
begin
    return query
    select * from forebay._retry(p_task_ids, p_priority, p_reason, p_actor);
end;
$function$;

comment on function forebay.retry is 'Put failed and cancelled tasks back in line, with fresh attempts; p_priority null keeps theirs.';
