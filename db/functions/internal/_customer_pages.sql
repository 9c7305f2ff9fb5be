create or replace function forebay._customer_pages(p_from timestamptz, p_to timestamptz, p_customers text[])
    returns table (customer text, agent text, pages numeric)
    language sql
    stable
    security invoker
as $function$
-- How many pages the calls of the range's tasks told of, by customer and agent.
select t.customer, t.agent, sum(u.pages)
from forebay._counted_calls(p_from, p_to, null, null, p_customers) as u
inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
inner join forebay.tasks as t on t.task_id = a.task_id
where u.pages > 0
group by t.customer, t.agent;
$function$;

comment on function forebay._customer_pages is 'How many pages the calls of the range''s tasks told of, by customer and agent.';
