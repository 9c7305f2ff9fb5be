create or replace function forebay._require_own_files()
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse to store or remove files in a copy that no operator has opened: the storage is that of what it was copied from.
--
-- Errors  QF401  this database is a copy that nobody has opened
begin
    if not forebay._may_dispatch() then
        raise exception 'this database is a copy that nobody has opened: it neither takes nor removes files'
            using errcode = 'QF401', hint = forebay._how_to_open(forebay._limits());
    end if;
end;
$function$;

comment on function forebay._require_own_files is
'Refuse to store or remove files in a copy that no operator has opened: the storage is that of what it was copied from.';
