create or replace function forebay._is_current(p_fault forebay.launcher_faults, p_now timestamptz)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a launcher's fault was seen so lately that it counts.
select p_fault.seen_at > p_now - interval '2 minutes';
$function$;

comment on function forebay._is_current is 'Whether a launcher''s fault was seen so lately that it counts.';
