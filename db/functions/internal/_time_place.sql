create or replace function forebay._time_place(p_time interval)
    returns integer
    language sql
    immutable
    security invoker
as $function$
-- The place of a time in a histogram: how many steps of 5 % it lies above a millisecond, from 0 to 999.
select least(
    floor(ln(greatest(extract(epoch from p_time)::double precision * 1000, 1)) / ln(1.05::double precision)), 999
)::integer;
$function$;

comment on function forebay._time_place is 'The place of a time in a histogram: how many steps of 5 % it lies above a millisecond, from 0 to 999.';
