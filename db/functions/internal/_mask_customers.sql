create or replace function forebay._mask_customers()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give customers their made-up names in what has few rows, and find names for those of what has many.
--
-- Who had how many turns is forgotten: all customers begin anew.
--
-- Writes  forebay.customers, forebay.spend_lifts, spend_entries, task_changes, masked_names; deletes from customer_turns
begin
    delete from forebay.customer_turns;
    update forebay.customers as c set customer = forebay._alias('customer', c.customer);
    update forebay.spend_lifts as l set customer = forebay._alias('customer', l.customer) where l.customer <> '';
    update forebay.spend_entries as e set customer = forebay._alias('customer', e.customer) where e.customer <> '';
    update forebay.task_changes as c set customer = forebay._alias('customer', c.customer) where c.customer <> '';
    perform forebay._alias('customer', found.customer)
    from (
        select d.customer from forebay.daily_spend as d
        union
        select r.customer from forebay.task_rollups as r where r.is_by_customer
    ) as found;
end;
$function$;

comment on function forebay._mask_customers is 'Give customers their made-up names in what has few rows, and find names for those of what has many.';
