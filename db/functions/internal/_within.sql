create or replace function forebay._within(
    p_amount  double precision,
    p_tokens  double precision,
    p_pace    double precision,
    p_seconds double precision
)
    returns double precision
    language sql
    immutable
    security invoker
as $function$
-- How much of p_amount is used within p_seconds by a task with p_tokens to go, at p_pace tokens a second (null: all at once).
select coalesce(least(p_amount, p_amount / nullif(p_tokens, 0) * p_pace * p_seconds), p_amount);
$function$;

comment on function forebay._within is 'How much of p_amount is used within p_seconds by a task with p_tokens to go, at p_pace tokens a second (null: all at once).';
