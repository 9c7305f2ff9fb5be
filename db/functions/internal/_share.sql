create or replace function forebay._share(p_refusal forebay.refusals, p_now timestamptz)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- The share of the limits that holds at p_now: as lowered until the pause ends, then a tenth more every 30 seconds, up to 1.
select coalesce(
    least(1, p_refusal.share + 0.1 * floor(greatest(0, extract(epoch from p_now - p_refusal.paused_until)) / 30)), 1
);
$function$;

comment on function forebay._share is 'The share of the limits that holds at p_now: as lowered until the pause ends, then a tenth more every 30 seconds, up to 1.';
