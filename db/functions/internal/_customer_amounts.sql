create or replace function forebay._customer_amounts(p_from timestamptz, p_to timestamptz, p_customers text[])
    returns table (
        customer text, agent text, retries bigint, llm_usd numeric, retry_llm_usd numeric, compute_usd numeric,
        retry_compute_usd numeric, provisional_usd numeric, retry_provisional_usd numeric
    )
    language sql
    stable
    security invoker
as $function$
-- What attempts of the range's tasks cost, by customer and agent: null where nothing is known.
select
    t.customer, t.agent, count(*) filter (where a.attempt_no > 1),
    sum(forebay._known_llm(a)) filter (where a.attempt_no = 1),
    sum(forebay._known_llm(a)) filter (where a.attempt_no > 1),
    sum(forebay._known_compute(a)) filter (where a.attempt_no = 1 and a.is_compute_final),
    sum(forebay._known_compute(a)) filter (where a.attempt_no > 1 and a.is_compute_final),
    sum(forebay._known_compute(a)) filter (where a.attempt_no = 1 and not a.is_compute_final),
    sum(forebay._known_compute(a)) filter (where a.attempt_no > 1 and not a.is_compute_final)
from forebay._matching_tasks(p_from, p_to, null, null, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
group by t.customer, t.agent;
$function$;

comment on function forebay._customer_amounts is 'What attempts of the range''s tasks cost, by customer and agent: null where nothing is known.';
