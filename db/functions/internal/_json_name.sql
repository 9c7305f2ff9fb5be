create or replace function forebay._json_name(p_document jsonb, p_key text, p_max integer)
    returns text
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The text under p_key, which is not empty and has at most p_max characters; null where it is absent or null.
--
-- Errors  22023  something else stands there
declare
    v_text text := forebay._json_text(p_document, p_key);
begin
    if char_length(v_text) not between 1 and p_max then
        raise exception '"%" must have 1 to % characters', p_key, p_max using errcode = '22023';
    end if;
    return v_text;
end;
$function$;

comment on function forebay._json_name is 'The text under p_key, which is not empty and has at most p_max characters; null where it is absent or null.';
