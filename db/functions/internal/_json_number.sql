create or replace function forebay._json_number(p_document jsonb, p_key text)
    returns numeric
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The number under p_key, null where it is absent or null; a string that spells a number counts as one.
--
-- Errors  22023  something else stands there
declare
    v_type text := coalesce(jsonb_typeof(p_document -> p_key), 'null');
    v_text text := p_document ->> p_key;
begin
    if v_type = 'null' then
        return null;
    end if;
    if v_type = 'number' or (v_type = 'string' and v_text ~ '^[[:space:]]*[+-]?[0-9]{1,40}([.][0-9]{1,40})?[[:space:]]*$') then
        return v_text::numeric;
    end if;
    raise exception '"%" must be a number, not %', p_key, left((p_document -> p_key)::text, 60) using errcode = '22023';
end;
$function$;

comment on function forebay._json_number is 'The number under p_key, null where it is absent or null; a string that spells a number counts as one.';
