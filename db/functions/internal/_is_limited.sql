create or replace function forebay._is_limited(p_agent forebay.agents)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether admission for the agent has anything to count, and so needs the agent's lock.
select p_agent.max_concurrent_tasks is not null or p_agent.max_tpm is not null or p_agent.max_rpm is not null;
$function$;

comment on function forebay._is_limited is 'Whether admission for the agent has anything to count, and so needs the agent''s lock.';
