create or replace function forebay._estimate(p_agent forebay.agents, p_task forebay.tasks)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- What a task counts as before anything is learned: its estimate, or the agent's default.
select coalesce(p_task.estimated_tokens, p_agent.default_estimated_tokens);
$function$;

comment on function forebay._estimate is 'What a task counts as before anything is learned: its estimate, or the agent''s default.';
