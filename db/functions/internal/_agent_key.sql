create or replace function forebay._agent_key(p_agent text)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- The key of the agent's advisory lock.
select hashtextextended('forebay.agent ' || p_agent, 0);
$function$;

comment on function forebay._agent_key is 'The key of the agent''s advisory lock.';
