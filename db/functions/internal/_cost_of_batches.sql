create or replace function forebay._cost_of_batches(
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
-- What the tasks of each batch cost, in no set order; key null: tasks of none.
select
    t.batch_id::text, count(*), count(*) filter (where t.status = 'processing'), sum(t.ended_attempts),
    sum(t.measured_attempts), sum(t.priced_attempts), sum(t.costed_attempts), sum(t.provisional_attempts),
    sum(t.used_input_tokens)::bigint, sum(t.used_output_tokens)::bigint, sum(t.used_cached_tokens)::bigint,
    sum(t.cost_usd), sum(t.compute_usd)
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
group by t.batch_id;
$function$;

comment on function forebay._cost_of_batches is 'What the tasks of each batch cost, in no set order; key null: tasks of none.';
