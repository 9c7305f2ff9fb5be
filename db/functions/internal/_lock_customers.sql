create or replace function forebay._lock_customers(p_customers text[], p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock those of the customers that have a cap, by name.
begin
    return;
end;
$function$;

comment on function forebay._lock_customers is 'Lock those of the customers that have a cap, by name.';
