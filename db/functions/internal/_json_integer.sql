create or replace function forebay._json_integer(
    p_document jsonb,
    p_key      text,
    p_from     bigint default -9223372036854775808,
    p_to       bigint default 9223372036854775807
)
    returns bigint
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The whole number under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there, or a number outside p_from to p_to
declare
    v_number numeric := forebay._json_number(p_document, p_key);
begin
    if v_number <> trunc(v_number) or v_number not between p_from and p_to then
        raise exception '"%" must be a whole number from % to %, not %', p_key, p_from, p_to, left(v_number::text, 60)
            using errcode = '22023';
    end if;
    return v_number::bigint;
end;
$function$;

comment on function forebay._json_integer is 'The whole number under p_key, null where it is absent or null.';
