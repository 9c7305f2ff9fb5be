create or replace function forebay._lined_up(
    p_agent   forebay.agents,
    p_task    forebay.tasks,
    p_learned forebay.learned,
    p_now     timestamptz
)
    returns forebay.lined_up
    language sql
    stable
    security invoker
as $function$
-- The task as it stands in line; where nobody weighs what it will use (p_learned is null), that is its estimate, a fifth of
-- it output.
select (
    p_task.task_id, forebay._effective_priority(p_agent, p_task, p_now), p_task.customer,
    greatest(interval '0', p_now - greatest(p_task.created_at, p_task.available_at)),
    forebay._estimate(p_agent, p_task),
    case
        when (p_learned).samples is not null then forebay._expect(p_agent, p_learned, p_task.estimated_tokens)
        else (
            1, (forebay._estimate(p_agent, p_task) * 4 + 4) / 5,
            forebay._estimate(p_agent, p_task) - (forebay._estimate(p_agent, p_task) * 4 + 4) / 5, 0
        )::forebay.expected_use
    end
)::forebay.lined_up;
$function$;

comment on function forebay._lined_up is 'The task as it stands in line; where nobody weighs what it will use (p_learned is null), that is its estimate, a fifth of it output.';
