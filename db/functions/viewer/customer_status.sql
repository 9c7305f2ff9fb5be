create or replace function forebay.customer_status(p_customers text[] default null)
    returns setof forebay.customer_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each customer with terms of its own as it stands now: terms, money of today (UTC), tasks; p_customers null means all.
--
-- Returns    one row a customer, by name
-- Called by  forebay_viewer
declare
    v_customers text[] := p_customers;
    v_now       timestamptz := forebay._now();
begin
    return query
    with waiting as (
        select t.customer, count(*) as tasks
        from forebay.tasks as t
        where t.status = 'enqueued' and t.customer is not null
        group by t.customer
    ), running as (
        select a.customer, count(*) as tasks
        from forebay.task_attempts as a
        where a.finished_at is null and a.customer is not null
        group by a.customer
    )
    select
        c.customer, c.priority_boost, c.max_usd_per_day, forebay._cap_today('', c.customer, 0, v_now),
        spent.recorded, spent.projected, coalesce(waiting.tasks, 0), coalesce(running.tasks, 0)
    from forebay.customers as c
    left join waiting on waiting.customer = c.customer
    left join running on running.customer = c.customer
    cross join lateral forebay._spent_today(null, c.customer, v_now) as spent
    where v_customers is null or c.customer = any(v_customers)
    order by c.customer;
end;
$function$;

comment on function forebay.customer_status is 'Each customer with terms of its own as it stands now: terms, money of today (UTC), tasks; p_customers null means all.';
