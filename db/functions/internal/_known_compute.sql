create or replace function forebay._known_compute(p_attempt forebay.task_attempts)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- What is known of the cost of an attempt's machine: null where nothing is, as while it runs and cost nothing yet.
select forebay._known_part(p_attempt.compute_usd, (p_attempt.finished_at is not null)::integer, 1);
$function$;

comment on function forebay._known_compute is
'What is known of the cost of an attempt''s machine: null where nothing is, as while it runs and cost nothing yet.';
