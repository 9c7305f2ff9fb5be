create or replace function forebay._cost_of_each_task(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_line
    language sql
    stable
    security invoker
as $function$
-- What tasks cost, one by one, in no set order. Inlined into its callers, so it pins no path.
select
    t.task_id::text, 1::bigint, (t.status = 'processing')::integer::bigint, t.ended_attempts::bigint,
    t.measured_attempts::bigint, t.priced_attempts::bigint, t.costed_attempts::bigint, t.provisional_attempts::bigint,
    t.used_input_tokens, t.used_output_tokens, t.used_cached_tokens, t.cost_usd, t.compute_usd
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t;
$function$;

comment on function forebay._cost_of_each_task is 'What tasks cost, one by one, in no set order. Inlined into its callers, so it pins no path.';
