create or replace function forebay._exact(p_duration interval)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- The duration in seconds alone: a day added to a time would be 23 or 25 hours where the session's zone changes its clocks.
select make_interval(secs => extract(epoch from p_duration)::double precision);
$function$;

comment on function forebay._exact is 'The duration in seconds alone: a day added to a time would be 23 or 25 hours where the session''s zone changes its clocks.';
