create or replace function forebay._require_count(p_count bigint, p_expected bigint)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that as many tasks match as somebody was shown.
--
-- Errors  QF204  they are more or fewer
begin
    if p_count <> p_expected then
        raise exception '% now, not %', case p_count when 1 then '1 task matches' else p_count || ' tasks match' end, p_expected
            using errcode = 'QF204', detail = 'Nothing was changed.', hint = 'Look at what matches, and confirm it again.';
    end if;
end;
$function$;

comment on function forebay._require_count is 'Check that as many tasks match as somebody was shown.';
