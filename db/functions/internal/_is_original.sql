create or replace function forebay._is_original(p_installation forebay.installation)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether this database is the one that was installed: no branch, and still in the cluster it was installed in.
begin
    return (
        select
            not p_installation.is_branch
            and p_installation.system_identifier = (select control.system_identifier from pg_control_system() as control)
    );
end;
$function$;

comment on function forebay._is_original is 'Whether this database is the one that was installed: no branch, and still in the cluster it was installed in.';
