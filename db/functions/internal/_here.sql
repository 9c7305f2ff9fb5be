create or replace function forebay._here()
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which database of its cluster this is: its oid, which no clone has; and its branch of Lakebase, if the session says it.
--
-- A branch of Lakebase has the cluster's identifier and the oid of what it was made of. Connections of a lakebase: URL say
-- in forebay.branch where they lead; others say nothing.
begin
    return (
        select d.oid::text || coalesce(' ' || nullif(current_setting('forebay.branch', true), ''), '')
        from pg_database as d
        where d.datname = current_database()
    );
end;
$function$;

comment on function forebay._here is 'Which database of its cluster this is: its oid, which no clone has; and its branch of Lakebase, if the session says it.';
