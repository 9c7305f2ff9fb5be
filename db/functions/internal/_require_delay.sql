create or replace function forebay._require_delay(p_delay interval, p_name text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a delay, if given, lies between nothing and a year.
--
-- Errors  22023  it does not
begin
    if p_delay < interval '0' or p_delay > interval '1 year' then
        raise exception '% must be from 0 to 1 year, not %', p_name, p_delay using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_delay is 'Check that a delay, if given, lies between nothing and a year.';
