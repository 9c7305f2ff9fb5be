create or replace function forebay._cost_of_tries(
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
-- What first tries cost, and what retries cost, by how the attempt before them ended; in no set order.
select
    tries.key, count(distinct a.task_id), count(*) filter (where a.finished_at is null), count(a.finished_at),
    count(a.finished_at) filter (where a.is_usage_known or (a.status = 'released' and a.used_calls = 0)),
    count(a.finished_at) filter (where a.is_cost_known or (a.status = 'released' and a.used_calls = 0)),
    count(a.finished_at) filter (where a.compute_usd is not null),
    count(a.finished_at) filter (where a.compute_usd is not null and not a.is_compute_final),
    coalesce(sum(a.used_input_tokens), 0)::bigint, coalesce(sum(a.used_output_tokens), 0)::bigint,
    coalesce(sum(a.used_cached_tokens), 0)::bigint, coalesce(sum(a.cost_usd), 0), coalesce(sum(a.compute_usd), 0)
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
left join forebay.task_attempts as before on before.task_id = a.task_id and before.attempt_no = a.attempt_no - 1
cross join lateral forebay._try_key(a.attempt_no, before.status) as tries (key)
group by tries.key;
$function$;

comment on function forebay._cost_of_tries is 'What first tries cost, and what retries cost, by how the attempt before them ended; in no set order.';
