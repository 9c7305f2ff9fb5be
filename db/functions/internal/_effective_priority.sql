create or replace function forebay._effective_priority(p_agent forebay.agents, p_task forebay.tasks, p_now timestamptz)
    returns integer
    language sql
    immutable
    security invoker
as $function$
-- The task's priority, and one more for each aging interval of its agent that has passed since it was created.
select p_task.priority + case when p_agent.aging is null then 0 else least(
    div(greatest(0, extract(epoch from p_now - p_task.created_at)), extract(epoch from p_agent.aging)), 1000000000
)::integer end;
$function$;

comment on function forebay._effective_priority is 'The task''s priority, and one more for each aging interval of its agent that has passed since it was created.';
