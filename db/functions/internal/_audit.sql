create or replace function forebay._audit(
    p_action   text,
    p_task_ids bigint[],
    p_agent    text,
    p_reason   text,
    p_actor    text,
    p_details  jsonb default null
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record an act: one row for each task of p_task_ids, or one row for p_agent when that is null.
begin
    insert into forebay.audit_log (acted_at, action, task_id, agent, session_role, actor, reason, details)
    select forebay._now(), p_action, ids.task_id, p_agent, session_user, left(p_actor, 200), left(p_reason, 2000), p_details
    from unnest(coalesce(p_task_ids, array[null::bigint])) as ids (task_id);
end;
$function$;

comment on function forebay._audit is 'Record an act: one row for each task of p_task_ids, or one row for p_agent when that is null.';
