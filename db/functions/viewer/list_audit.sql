create or replace function forebay.list_audit(
    p_task_id         bigint default null,
    p_agent           text default null,
    p_actor           text default null,
    p_before_audit_id bigint default null,
    p_limit           integer default 100
)
    returns setof forebay.audit_entry
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- List what people did, latest first, a page at a time: the next page is that before the last id of this one.
--
-- Returns    one row a task or agent that an act changed, by id downwards
-- Errors     22023  p_limit is not from 1 to 10,000
-- Called by  forebay_viewer
declare
    v_task_id bigint := p_task_id;
    v_agent   text := p_agent;
    v_actor   text := p_actor;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    select l.audit_id, l.acted_at, l.action, l.task_id, l.agent, l.session_role, l.actor, l.reason, l.details
    from forebay.audit_log as l
    where (v_task_id is null or l.task_id = v_task_id)
        and (v_agent is null or l.agent = v_agent)
        and (v_actor is null or l.actor = v_actor)
        and (p_before_audit_id is null or l.audit_id < p_before_audit_id)
    order by l.audit_id desc
    limit p_limit;
end;
$function$;

comment on function forebay.list_audit is
'List what people did, latest first, a page at a time: the next page is that before the last id of this one.';
