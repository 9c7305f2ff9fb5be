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
    if not exists (select from forebay.customers as c where c.max_usd_per_day is not null) then
        return array[]::text[];
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
                union all
                select a.customer, a.expected_usd
                from forebay.agents as g
                inner join forebay.task_attempts as a on a.agent = g.agent
                where a.customer is not null and a.finished_at >= v_since and a.finished_at is not null
                    and a.cost_usd is null and a.expected_usd > 0 and a.status <> 'released' and not forebay._is_refused(a.error)
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
