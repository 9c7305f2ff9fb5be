create or replace function forebay._is_unclear(p_before jsonb, p_run jsonb)
    returns boolean
    language sql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- True where any try of an attempt's launch had no clear answer, by what p_run says now or was said before; else null.
--
-- p_before is the run_state of its attempt until now.
--
-- Errors  22023  "is_unclear" of p_run is neither true nor false
select nullif(coalesce(forebay._json_boolean(p_run, 'is_unclear'), false) or coalesce(p_before ? 'is_unclear', false), false);
$function$;

comment on function forebay._is_unclear is
'True where any try of an attempt''s launch had no clear answer, by what p_run says now or was said before; else null.';
