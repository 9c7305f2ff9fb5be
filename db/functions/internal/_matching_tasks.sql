create or replace function forebay._matching_tasks(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.tasks
    language sql
    stable
    security invoker
as $function$
-- The tasks that the five filters let through; a null filter lets all through. Inlined into its callers, so it pins no path.
select t.*
from forebay.tasks as t
where (p_from is null or t.created_at >= p_from)
    and (p_to is null or t.created_at < p_to)
    and (p_statuses is null or t.status = any(p_statuses))
    and (p_agents is null or t.agent = any(p_agents))
    and (p_customers is null or coalesce(t.customer, '') = any(p_customers));
$function$;

comment on function forebay._matching_tasks is 'The tasks that the five filters let through; a null filter lets all through. Inlined into its callers, so it pins no path.';
