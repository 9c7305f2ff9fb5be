create or replace function forebay._llm_bases(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_basis
    language sql
    stable
    security invoker
as $function$
-- Where it is known from what the model calls of tasks cost: a row a call, and one an attempt that told of none.
--
-- What used nothing is unused and costs 0: without a source where no call is told of, and none was made.
select
    u.attempt_id, u.model, u.source,
    case
        when u.cost_usd is not null then 'reported'
        when u.is_list_price then 'list_price'
        when u.usd is not null then 'price'
        when forebay._used_nothing(u) then 'unused'
        else 'unknown'
    end,
    coalesce(u.usd, case when forebay._used_nothing(u) then 0 end)
from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
union all
select
    a.attempt_id, null, null,
    case when known.usd is not null then 'unused' when a.finished_at is null then 'running' else 'unknown' end,
    known.usd
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
cross join lateral forebay._known_llm(a) as known (usd)
where not exists (select from forebay.attempt_usage as u where u.attempt_id = a.attempt_id);
$function$;

comment on function forebay._llm_bases is 'Where it is known from what the model calls of tasks cost: a row a call, and one an attempt that told of none.';
