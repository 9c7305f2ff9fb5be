create or replace function forebay._known_llm(p_attempt forebay.task_attempts)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- What is known of the cost of an attempt's calls: 0 where it made none, or none that cost; null where nothing is known.
select forebay._known_part(
    coalesce(p_attempt.cost_usd, 0),
    (p_attempt.finished_at is not null and (p_attempt.is_cost_known or p_attempt.status = 'released' and p_attempt.used_calls = 0))::integer,
    1
);
$function$;

comment on function forebay._known_llm is
'What is known of the cost of an attempt''s calls: 0 where it made none, or none that cost; null where nothing is known.';
