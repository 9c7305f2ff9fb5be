create or replace function forebay._counted_calls(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.attempt_usage
    language sql
    stable
    security invoker
as $function$
-- The calls of the tasks that the filters let through: of each attempt those of the source that counts.
select u.*
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
cross join lateral forebay._usage_sources(a.attempt_id) as counting (source)
inner join forebay.attempt_usage as u on u.attempt_id = a.attempt_id and u.source = counting.source;
$function$;

comment on function forebay._counted_calls is 'The calls of the tasks that the filters let through: of each attempt those of the source that counts.';
