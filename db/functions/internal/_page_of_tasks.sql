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
    v_statuses text[] := coalesce(p_filter.statuses, '{enqueued,processing,completed,failed,cancelled}');
    v_agents   text[] := coalesce(p_filter.agents, array(select a.agent from forebay.agents as a));
    v_names    text[] := coalesce(p_filter.customers, '{}') || p_filter.found_customers;
    v_is_few   boolean := cardinality(v_names) + cardinality(p_filter.found_batches) <= 100 and not '' = any(v_names);
begin
    if p_filter.batch_id is not null or (v_is_few and (p_filter.is_search or p_filter.customers is not null)) then
        return query
        select t.task_id from forebay.tasks as t
        where t.task_id in (
            select b.task_id from forebay.tasks as b where b.batch_id = p_filter.batch_id
            union all
            select ids.id from unnest(p_filter.found_tasks) as ids (id) where p_filter.batch_id is null
            union all
            select b.task_id from forebay.tasks as b
            where b.batch_id = any(p_filter.found_batches) and p_filter.batch_id is null
            union all
            (
                select newest.task_id
                from (select distinct c.customer from unnest(v_names) as c (customer)) as names
                cross join (select distinct s.status from unnest(v_statuses) as s (status)) as words
                cross join lateral (
                    select c.task_id, c.created_at from forebay.tasks as c
                    where c.customer = names.customer and c.status = words.status and forebay._passes(c, p_filter)
                        and (c.created_at, c.task_id) < (p_before_at, p_before_id)
                    order by c.created_at desc, c.task_id desc
                    limit p_limit
                ) as newest
                where p_filter.batch_id is null
                order by newest.created_at desc, newest.task_id desc
                limit p_limit
            )
        )
        and forebay._passes(t, p_filter) and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit;
    elsif num_nonnulls(p_filter.agents, p_filter.statuses, p_filter.customers) > 0 then
        return query
        select newest.task_id
        from (select distinct a.agent from unnest(v_agents) as a (agent)) as names
        cross join (select distinct s.status from unnest(v_statuses) as s (status)) as words
        cross join lateral (
            select t.task_id, t.created_at from forebay.tasks as t
            where t.agent = names.agent and t.status = words.status and forebay._passes(t, p_filter)
                and (t.created_at, t.task_id) < (p_before_at, p_before_id)
            order by t.created_at desc, t.task_id desc
            limit p_limit
        ) as newest
        order by newest.created_at desc, newest.task_id desc
        limit p_limit;
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
