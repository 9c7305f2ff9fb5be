create or replace function forebay.list_clones(p_mark text)
    returns setof forebay.clone
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Name the databases beside this one whose name begins with p_mark: those that forebay branch may have made of it.
--
-- Returns    one row a database, by name
-- Errors     22023  p_mark is null or empty
-- Called by  forebay_upkeep
begin
    if p_mark is null or p_mark = '' then
        raise exception 'p_mark must not be empty' using errcode = '22023';
    end if;
    return query
    select d.datname::text, not d.datallowconn from pg_database as d
    where starts_with(d.datname::text, p_mark) and d.datname <> current_database()
    order by d.datname;
end;
$function$;

comment on function forebay.list_clones is
'Name the databases beside this one whose name begins with p_mark: those that forebay branch may have made of it.';
