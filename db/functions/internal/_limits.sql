create or replace function forebay._limits()
    returns forebay.installation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The one row of settings; read apart, so that no plan of a busy query has to join it.
declare
    v_limits forebay.installation;
begin
    select i.* into v_limits from forebay.installation as i;
    return v_limits;
end;
$function$;

comment on function forebay._limits is 'The one row of settings; read apart, so that no plan of a busy query has to join it.';
