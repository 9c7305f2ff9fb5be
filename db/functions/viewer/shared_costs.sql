create or replace function forebay.shared_costs(p_from timestamptz default null, p_to timestamptz default null)
    returns setof forebay.shared_cost
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- Say what was paid for that no run has to itself, such as warehouses, apps and the database; p_from and p_to are half-open.
--
-- It is in no figure of a task, agent or customer. What models cost may be in it once more, where a bill tells of that:
-- never add it to the cost of calls.
--
-- Returns    one row a source and product, the dearest first, and last those of which something has no known price: usd is null
-- Called by  forebay_viewer
begin
    return query
    select
        u.source, u.product, case when bool_and(u.usd is not null) then sum(u.usd) end, bool_and(u.is_final),
        min(u.started_at), max(u.ended_at), max(s.as_of)
    from forebay.compute_usage as u
    left join forebay.compute_sources as s on s.source = u.source
    where u.product is not null
        and (p_from is null or u.started_at >= p_from)
        and (p_to is null or u.started_at < p_to)
    group by u.source, u.product
    order by 3 desc nulls last, u.product, u.source;
end;
$function$;

comment on function forebay.shared_costs is
'Say what was paid for that no run has to itself, such as warehouses, apps and the database; p_from and p_to are half-open.';
