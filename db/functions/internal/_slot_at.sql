create or replace function forebay._slot_at(p_period interval, p_at timestamptz)
    returns timestamptz
    language sql
    immutable
    security invoker
as $function$
-- The beginning of the slot, a 120th of the period, that a moment lies in.
select date_bin(p_period / 120, p_at, timestamptz '2000-01-01 00:00:00+00');
$function$;

comment on function forebay._slot_at is 'The beginning of the slot, a 120th of the period, that a moment lies in.';
