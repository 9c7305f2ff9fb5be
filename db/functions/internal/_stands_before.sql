create or replace function forebay._stands_before(
    p_agent forebay.agents,
    p_one   forebay.tasks,
    p_other forebay.tasks,
    p_now   timestamptz
)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the one task comes before the other in line, customers' turns aside.
select (-forebay._effective_priority(p_agent, p_one, p_now), p_one.created_at, p_one.task_id)
    < (-forebay._effective_priority(p_agent, p_other, p_now), p_other.created_at, p_other.task_id);
$function$;

comment on function forebay._stands_before is 'Whether the one task comes before the other in line, customers'' turns aside.';
