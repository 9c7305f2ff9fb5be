create or replace function forebay._require_launchers(p_launchers text[])
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every word in p_launchers is a launcher; null asks for nothing.
--
-- Errors  22023  one is not
begin
    if not p_launchers <@ array['pull', 'local', 'lakeflow'] then
        raise exception 'p_launchers may hold pull, local and lakeflow, not %', left(p_launchers::text, 100)
            using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_launchers is 'Check that every word in p_launchers is a launcher; null asks for nothing.';
