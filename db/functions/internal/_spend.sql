create or replace function forebay._spend(p_attempt_id bigint)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Bring what the attempt cost up to date, and note the difference as spent; the caller holds its row.
begin
    return;
end;
$function$;

comment on function forebay._spend is 'Bring what the attempt cost up to date, and note the difference as spent; the caller holds its row.';
