create or replace function forebay._usage_source(p_attempt_id bigint)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Which source counts for an attempt, as _usage_sources says; null when no call was reported.
select s.source from forebay._usage_sources(p_attempt_id) as s (source);
$function$;

comment on function forebay._usage_source is 'Which source counts for an attempt, as _usage_sources says; null when no call was reported.';
