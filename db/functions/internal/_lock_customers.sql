create or replace function forebay._lock_customers(p_customers text[], p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock those of the customers that have a cap, by name.
--
-- Errors  55P03  somebody else is admitting for one of them, and p_waits is false
begin
    if p_waits then
        perform 1 from forebay.customers as c
        where c.customer = any(p_customers) and c.max_usd_per_day is not null
        order by c.customer
        for no key update;
    else
        perform 1 from forebay.customers as c
        where c.customer = any(p_customers) and c.max_usd_per_day is not null
        order by c.customer
        for no key update nowait;
    end if;
end;
$function$;

comment on function forebay._lock_customers is 'Lock those of the customers that have a cap, by name.';
