create or replace function forebay._may_retry(p_agent forebay.agents, p_attempt_count integer, p_max_attempts integer)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a task that spent p_attempt_count attempts has one left; its own p_max_attempts goes before the agent's.
select p_attempt_count < coalesce(p_max_attempts, p_agent.max_attempts);
$function$;

comment on function forebay._may_retry is 'Whether a task that spent p_attempt_count attempts has one left; its own p_max_attempts goes before the agent''s.';
