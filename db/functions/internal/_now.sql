create or replace function forebay._now()
    returns timestamptz
    language sql
    volatile
    security invoker
as $function$
-- The one clock: read it once into v_now, after the locks are held.
--
-- Tests install another body here; production has no switch that a caller could turn. A clock can step back, so nothing is
-- written as finished before it was started.
select clock_timestamp();
$function$;

comment on function forebay._now is 'The one clock: read it once into v_now, after the locks are held.';
