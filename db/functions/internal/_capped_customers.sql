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
    v_day date := forebay._utc_day(p_now);
begin
    if not exists (select from forebay.customers as c where c.max_usd_per_day is not null) then
        return '{}';
    end if;
    return array(
        select c.customer
        from (
            select s.customer, sum(s.usd) as usd
            from (
                select d.customer, d.usd from forebay.daily_spend as d where d.day = v_day
                union all
                select e.customer, e.usd from forebay.spend_entries as e where forebay._utc_day(e.spent_at) = v_day
                union all
                select a.customer, greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0)
                from forebay.task_attempts as a
                where a.finished_at is null and a.customer is not null
            ) as s
            group by s.customer
        ) as spent
        inner join forebay.customers as c on c.customer = spent.customer
        where c.max_usd_per_day is not null and spent.usd >= forebay._cap_today('', c.customer, c.max_usd_per_day, p_now)
        union
        select c.customer
        from forebay.customers as c
        where c.max_usd_per_day = 0 and forebay._cap_today('', c.customer, 0, p_now) = 0
    );
end;
$function$;

comment on function forebay._capped_customers is 'The customers whose cap of today is reached.';
