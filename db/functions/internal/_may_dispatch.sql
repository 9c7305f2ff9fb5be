create or replace function forebay._may_dispatch()
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether tasks may start here: in what was installed, and in a copy that an operator opened in this place.
begin
    return (
        select not forebay._is_copy(i)
            or coalesce(i.opened_in = forebay._cluster(), false) and forebay._is_here(i.opened_home)
        from forebay.installation as i
    );
end;
$function$;

comment on function forebay._may_dispatch is 'Whether tasks may start here: in what was installed, and in a copy that an operator opened in this place.';
