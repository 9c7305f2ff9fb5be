create or replace function forebay._require_source(p_source text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a source of compute costs has a name.
--
-- Errors  22023  it has not 1 to 200 characters
begin
    if p_source is null or char_length(p_source) not between 1 and 200 then
        raise exception 'p_source must have 1 to 200 characters' using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_source is 'Check that a source of compute costs has a name.';
