create or replace function forebay._capped_customers(p_now timestamptz)
    returns text[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The customers whose cap of today is reached.
--
-- It starts from those that spend, not from those that have a cap: a customer that spends nothing is only here when its cap is 0.
declare
    v_day   date := forebay._utc_day(p_now);
    v_since timestamptz := date_trunc('day', p_now, 'UTC');
begin
    if not forebay._has_customer_caps() then
        return array[]::text[];
    end if;
    return array(
        select c.customer
        from (
            select s.customer, sum(s.usd) as usd
            from (
                select r.customer, r.usd from forebay._recorded_usd(v_day) as r
                union all
                select p.customer, p.usd
                from forebay.agents as g
                cross join lateral (
                    select a.customer, a.usd from forebay._projected_usd(v_since) as a where a.agent = g.agent offset 0
                ) as p
            ) as s
            group by s.customer
        ) as spent
        inner join forebay.customers as c on c.customer = spent.customer
        where spent.usd >= c.max_usd_per_day and spent.usd >= forebay._cap_today('', c.customer, c.max_usd_per_day, p_now)
        union
        select c.customer
        from forebay.customers as c
        where c.max_usd_per_day = 0 and forebay._cap_today('', c.customer, 0, p_now) = 0
    );
end;
$function$;

comment on function forebay._capped_customers is 'The customers whose cap of today is reached.';
