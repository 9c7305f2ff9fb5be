create or replace function forebay._stop_wait(p_attempt forebay.task_attempts)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- How long after the last time the end of an attempt's run is asked for again: a tenth of how long it was in vain already.
select least(greatest((p_attempt.stop_asked_at - p_attempt.finished_at) / 10, interval '10 seconds'), interval '10 minutes');
$function$;

comment on function forebay._stop_wait is
'How long after the last time the end of an attempt''s run is asked for again: a tenth of how long it was in vain already.';
