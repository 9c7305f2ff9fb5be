create or replace function forebay._token_burst(p_agent forebay.agents)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How many tokens the agent's bucket holds when it is full; null when the agent has no max_tpm.
select p_agent.max_tpm * p_agent.tpm_burst;
$function$;

comment on function forebay._token_burst is 'How many tokens the agent''s bucket holds when it is full; null when the agent has no max_tpm.';
