create or replace function forebay._caps(p_agent forebay.agents, p_customers text[], p_now timestamptz)
    returns setof forebay.spend_cap
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The caps of today on the agent and on the customers, with what recorded and projected cost leave of each.
--
-- Returns  one row a cap that holds today, none where operators lifted it without end; has may be below 0
begin
    return query
    select caps.customer, caps.amount, caps.amount - spent.recorded - spent.projected
    from (
        select
            p_agent.agent as agent, null::text as customer,
            forebay._cap_today(p_agent.agent, '', p_agent.max_usd_per_day, p_now) as amount
        union all
        select null, c.customer, forebay._cap_today('', c.customer, c.max_usd_per_day, p_now)
        from forebay.customers as c
        where c.customer = any(p_customers) and c.max_usd_per_day is not null
    ) as caps
    cross join lateral forebay._spent_today(caps.agent, caps.customer, p_now) as spent
    where caps.amount < 'Infinity';
end;
$function$;

comment on function forebay._caps is 'The caps of today on the agent and on the customers, with what recorded and projected cost leave of each.';
