create or replace function forebay._time_at(p_place integer)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- The time in the middle of a place of a histogram: no time from a millisecond on in it lies more than 2.5 % from there.
select make_interval(secs => power(1.05::double precision, p_place + 0.5) / 1000);
$function$;

comment on function forebay._time_at is 'The time in the middle of a place of a histogram: no time from a millisecond on in it lies more than 2.5 % from there.';
