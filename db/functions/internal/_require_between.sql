create or replace function forebay._require_between(p_value bigint, p_name text, p_from bigint, p_to bigint)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that an argument lies between p_from and p_to; null does not.
--
-- Errors  22023  it does not
begin
    if p_value is null or p_value not between p_from and p_to then
        raise exception '% must be from % to %, not %', p_name, p_from, p_to, coalesce(p_value::text, 'null')
            using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_between is 'Check that an argument lies between p_from and p_to; null does not.';
