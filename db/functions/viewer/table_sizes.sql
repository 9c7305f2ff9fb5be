create or replace function forebay.table_sizes()
    returns setof forebay.table_size
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How large each table of the schema is, what of it is dead, and when it was vacuumed by itself.
--
-- Returns    one row a table, largest first; row_estimate is null before the first vacuum or analyze
-- Called by  forebay_viewer
begin
    return query
    select
        c.relname::text, nullif(c.reltuples, -1)::bigint, pg_total_relation_size(c.oid), pg_stat_get_dead_tuples(c.oid),
        pg_stat_get_last_autovacuum_time(c.oid)
    from pg_class as c
    where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'r'
    order by pg_total_relation_size(c.oid) desc, c.relname;
end;
$function$;

comment on function forebay.table_sizes is 'How large each table of the schema is, what of it is dead, and when it was vacuumed by itself.';
