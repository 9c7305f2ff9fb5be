create or replace function forebay._cells(
    p_slots          forebay.time_slots[],
    p_statuses       text[],
    p_agents         text[],
    p_is_by_customer boolean,
    p_customers      text[]
)
    returns setof forebay.task_cell
    language sql
    stable
    security invoker
as $function$
-- The tasks that were created in the slots, counted: from the rollups, what is not in them yet, and tasks where no slot is whole.
--
-- Exact, because one snapshot shows all three. p_customers null is all; without p_is_by_customer cells are of all customers
-- together. Slots of 15 minutes are of all customers only.
select
    r.starts_at, r.agent, r.customer, r.status, r.tasks, r.ended_attempts, r.measured_attempts, r.priced_attempts,
    r.costed_attempts, r.provisional_attempts, r.input_tokens, r.output_tokens, r.cached_tokens, r.llm_usd, r.compute_usd,
    r.buckets, r.counts
from unnest(p_slots) as s
cross join lateral (
    select one.* from forebay.task_rollups as one
    where one.minutes = s.minutes and one.is_by_customer = p_is_by_customer
        and (
            not p_is_by_customer and one.customer = ''
            or p_is_by_customer and (p_customers is null or one.customer = any(p_customers))
        )
        and one.starts_at >= s.from_at and one.starts_at < s.to_at
    offset 0  -- each slot by the index, whatever else is asked for
) as r
where (p_statuses is null or r.status = any(p_statuses))
    and (p_agents is null or r.agent = any(p_agents))
union all
select
    c.starts_at, c.agent, c.customer, c.status, c.tasks, c.ended_attempts, c.measured_attempts, c.priced_attempts,
    c.costed_attempts, c.provisional_attempts, c.input_tokens, c.output_tokens, c.cached_tokens, c.llm_usd, c.compute_usd,
    c.buckets, array_fill(c.tasks, array[cardinality(c.buckets)])
from unnest(p_slots) as s
inner join forebay.task_changes as c on c.starts_at >= s.from_at and c.starts_at < s.to_at
where s.minutes > 0
    and (not p_is_by_customer or p_customers is null or c.customer = any(p_customers))
    and (p_statuses is null or c.status = any(p_statuses))
    and (p_agents is null or c.agent = any(p_agents))
union all
select cell.*
from unnest(p_slots) as s
inner join forebay.tasks as t on t.created_at >= s.from_at and t.created_at < s.to_at
cross join lateral forebay._task_cell(t, 1) as cell
where s.minutes = 0
    and (not p_is_by_customer or p_customers is null or coalesce(t.customer, '') = any(p_customers))
    and (p_statuses is null or t.status = any(p_statuses))
    and (p_agents is null or t.agent = any(p_agents));
$function$;

comment on function forebay._cells is 'The tasks that were created in the slots, counted: from the rollups, what is not in them yet, and tasks where no slot is whole.';
