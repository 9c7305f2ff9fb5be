create or replace function forebay._is_copy(p_installation forebay.installation)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether this database is a branch, or a copy elsewhere than where it was installed: in another cluster, or not at home.
begin
    return p_installation.is_branch or p_installation.system_identifier <> forebay._cluster()
        or not forebay._is_here(p_installation.home);
end;
$function$;

comment on function forebay._is_copy is 'Whether this database is a branch, or a copy elsewhere than where it was installed: in another cluster, or not at home.';
