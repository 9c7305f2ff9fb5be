create or replace function forebay._newest_of_agents(
    p_filter    forebay.task_filter,
    p_before_at timestamptz,
    p_before_id bigint,
    p_limit     integer
)
    returns setof bigint
    language plpgsql
    stable
    security invoker
    rows 100
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- The newest tasks that a filter lets through, newest first; read by agent and status.
--
-- What the index answers is not asked of the row again: the planner would take it for one more condition.
-- _newest_of_customers is the same by another index, and changes with it.
declare
    v_agents text[] := coalesce(p_filter.agents, array(select a.agent from forebay.agents as a));
    v_rest   forebay.task_filter := p_filter;
begin
    v_rest.statuses := null;
    v_rest.agents := null;
    return query
    select newest.task_id
    from (select distinct a.agent from unnest(v_agents) as a (agent)) as names
    cross join forebay._wanted_statuses(p_filter) as words (status)
    cross join lateral (
        select t.task_id, t.created_at from forebay.tasks as t
        where t.agent = names.agent and t.status = words.status and forebay._passes(t, v_rest)
            and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit
    ) as newest
    order by newest.created_at desc, newest.task_id desc
    limit p_limit;
end;
$function$;

comment on function forebay._newest_of_agents is
'The newest tasks that a filter lets through, newest first; read by agent and status.';
