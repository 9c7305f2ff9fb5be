create or replace function forebay._json_text(p_document jsonb, p_key text)
    returns text
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The text under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there
begin
    if coalesce(jsonb_typeof(p_document -> p_key), 'null') not in ('null', 'string') then
        raise exception '"%" must be a string, not %', p_key, jsonb_typeof(p_document -> p_key) using errcode = '22023';
    end if;
    return p_document ->> p_key;
end;
$function$;

comment on function forebay._json_text is 'The text under p_key, null where it is absent or null.';
