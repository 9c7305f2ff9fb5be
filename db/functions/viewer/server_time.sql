create or replace function forebay.server_time()
    returns timestamptz
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The time by the one clock that decides about leases; a driver compares its own with it, to know when to stop by itself.
--
-- Called by  every role that calls any function
select forebay._now();
$function$;

comment on function forebay.server_time is 'The time by the one clock that decides about leases; a driver compares its own with it, to know when to stop by itself.';
