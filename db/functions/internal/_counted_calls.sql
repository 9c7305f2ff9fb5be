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
--
-- Most attempts have one source, and of these nobody has to ask which one counts.
select u.*
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
inner join forebay.attempt_usage as u on u.attempt_id = a.attempt_id
where not exists (
    select from forebay.attempt_usage as other where other.attempt_id = u.attempt_id and other.source <> u.source
)
or u.source = forebay._usage_source(u.attempt_id);
$function$;

comment on function forebay._counted_calls is 'The calls of the tasks that the filters let through: of each attempt those of the source that counts.';
