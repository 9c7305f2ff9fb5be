create or replace function forebay._chance()
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Twelve hexadecimal digits of chance.
begin
    return encode(substring(uuid_send(gen_random_uuid()) from 1 for 6), 'hex');
end;
$function$;

comment on function forebay._chance is 'Twelve hexadecimal digits of chance.';
