create or replace function forebay._json_boolean(p_document jsonb, p_key text)
    returns boolean
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The truth value under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there
begin
    if coalesce(jsonb_typeof(p_document -> p_key), 'null') not in ('null', 'boolean') then
        raise exception '"%" must be true or false, not %', p_key, left((p_document -> p_key)::text, 60)
            using errcode = '22023';
    end if;
    return (p_document ->> p_key)::boolean;
end;
$function$;

comment on function forebay._json_boolean is 'The truth value under p_key, null where it is absent or null.';
