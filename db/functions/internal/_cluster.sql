create or replace function forebay._cluster()
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What tells this database cluster from every other: made by initdb, kept by a physical copy, not by a dump.
begin
    return (select control.system_identifier from pg_control_system() as control);
end;
$function$;

comment on function forebay._cluster is 'What tells this database cluster from every other: made by initdb, kept by a physical copy, not by a dump.';
