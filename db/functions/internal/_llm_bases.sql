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
select
    u.attempt_id, u.model, u.source,
    case
        when u.cost_usd is not null then 'reported'
        when u.is_list_price then 'list_price'
        when u.usd is not null then 'price'
        else 'unknown'
    end,
    u.usd
from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
union all
select a.attempt_id, null, null, case when a.finished_at is null then 'running' else 'unknown' end, null
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
where not a.is_usage_known and not (a.status = 'released' and a.used_calls = 0)
    and not exists (select from forebay.attempt_usage as u where u.attempt_id = a.attempt_id);
$function$;

comment on function forebay._llm_bases is 'Where it is known from what the model calls of tasks cost: a row a call, and one an attempt that told of none.';
