create or replace function forebay._known_line(p_line forebay.cost_line)
    returns setof forebay.cost_line
    language sql
    immutable
    rows 1
    security invoker
as $function$
-- A line of costs with null in place of the sums of which nothing is known.
select
    p_line.key, p_line.tasks, p_line.running_attempts, p_line.ended_attempts, p_line.measured_attempts, p_line.priced_attempts,
    p_line.costed_attempts, p_line.provisional_attempts,
    case when used.is_known then p_line.input_tokens end, case when used.is_known then p_line.output_tokens end,
    case when used.is_known then p_line.cached_tokens end,
    forebay._known_part(p_line.llm_usd, p_line.priced_attempts, of.attempts),
    forebay._known_part(p_line.compute_usd, p_line.costed_attempts, of.attempts)
from (select p_line.running_attempts + p_line.ended_attempts as attempts) as of
cross join lateral (
    select forebay._known_part(p_line.input_tokens + p_line.output_tokens, p_line.measured_attempts, of.attempts)
        is not null as is_known
) as used;
$function$;

comment on function forebay._known_line is 'A line of costs with null in place of the sums of which nothing is known.';
