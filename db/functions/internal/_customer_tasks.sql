create or replace function forebay._customer_tasks(p_from timestamptz, p_to timestamptz, p_customers text[])
    returns table (customer text, agent text, line forebay.cost_line)
    language sql
    stable
    security invoker
as $function$
-- What the range's tasks used, by customer and agent.
select
    t.customer, t.agent,
    (
        t.agent, count(*), count(*) filter (where t.status = 'processing'), sum(t.ended_attempts), sum(t.measured_attempts),
        sum(t.priced_attempts), sum(t.costed_attempts), sum(t.provisional_attempts), sum(t.used_input_tokens)::bigint,
        sum(t.used_output_tokens)::bigint, sum(t.used_cached_tokens)::bigint, sum(t.cost_usd), sum(t.compute_usd)
    )::forebay.cost_line
from forebay._matching_tasks(p_from, p_to, null, null, p_customers) as t
group by t.customer, t.agent;
$function$;

comment on function forebay._customer_tasks is 'What the range''s tasks used, by customer and agent.';
