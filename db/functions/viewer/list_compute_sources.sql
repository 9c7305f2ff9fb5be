create or replace function forebay.list_compute_sources()
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The sources that told what machines cost, such as a bill; 'local' is the estimate of Forebay itself.
--
-- Returns    their names, by name; those too that told of nothing
-- Called by  forebay_viewer
begin
    return query
    select s.source
    from forebay.compute_sources as s
    order by s.source collate "C";
end;
$function$;

comment on function forebay.list_compute_sources is 'The sources that told what machines cost, such as a bill; ''local'' is the estimate of Forebay itself.';
