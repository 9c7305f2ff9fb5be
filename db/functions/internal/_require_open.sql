create or replace function forebay._require_open()
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse to go on in a branch or a restored copy that no operator has opened.
--
-- Errors  QF401  this database is a copy and may not dispatch
begin
    if not forebay._may_dispatch() then
        raise exception 'this database is a branch or a restored copy and does not dispatch'
            using errcode = 'QF401', detail = 'Its tasks belong to the database it was copied from.',
                hint = forebay._how_to_open(forebay._limits());
    end if;
end;
$function$;

comment on function forebay._require_open is 'Refuse to go on in a branch or a restored copy that no operator has opened.';
