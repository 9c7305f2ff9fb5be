create or replace function forebay._refill(
    p_level      numeric,
    p_burst      numeric,
    p_per_minute numeric,
    p_since      timestamptz,
    p_until      timestamptz
)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- The level of a bucket that was at p_level at p_since and has refilled until p_until; time never runs backwards.
select least(p_burst, p_level + greatest(0, extract(epoch from p_until - p_since)) * p_per_minute / 60);
$function$;

comment on function forebay._refill is 'The level of a bucket that was at p_level at p_since and has refilled until p_until; time never runs backwards.';
