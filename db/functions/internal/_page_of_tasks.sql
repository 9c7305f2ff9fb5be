create or replace function forebay._page_of_tasks(
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
-- The newest tasks that a filter lets through, of those before a moment and an id.
--
-- Each way reads in the order of an index: that of the batch or of what was searched, of a customer and status, of an agent
-- and status, or of time. Taking the newest of each agent and status, it never walks over those of others. Tasks of no
-- customer are in no index of customers, and where a search means more than 100 batches and customers, it is quicker to walk.
declare
    v_batches bigint[] := case when p_filter.batch_id is null then p_filter.found_batches else array[p_filter.batch_id] end;
    v_names   text[] := case when p_filter.is_search then p_filter.found_customers else p_filter.customers end;
    v_is_few  boolean := p_filter.batch_id is not null or (
        (p_filter.is_search or p_filter.customers is not null) and not '' = any(v_names)
        and cardinality(v_names) + cardinality(v_batches) <= 100
    );
begin
    if v_is_few then
        return query
        select t.task_id from forebay.tasks as t
        where t.task_id in (
            select b.task_id from forebay.tasks as b where b.batch_id = any(v_batches)
            union all
            select ids.id from unnest(p_filter.found_tasks) as ids (id)
            union all
            select newest.task_id
            from forebay._newest_of_customers(v_names, p_filter, p_before_at, p_before_id, p_limit) as newest (task_id)
            where p_filter.batch_id is null
        )
        and forebay._passes(t, p_filter) and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit;
    elsif num_nonnulls(p_filter.agents, p_filter.statuses, p_filter.customers) > 0 then
        return query
        select newest.task_id
        from forebay._newest_of_agents(p_filter, p_before_at, p_before_id, p_limit) as newest (task_id);
    else
        return query
        select t.task_id from forebay.tasks as t
        where forebay._passes(t, p_filter) and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit;
    end if;
end;
$function$;

comment on function forebay._page_of_tasks is
'The newest tasks that a filter lets through, of those before a moment and an id.';
