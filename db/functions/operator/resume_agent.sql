create or replace function forebay.resume_agent(p_agent text, p_reason text default null, p_actor text default null)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- End an agent's pause. p_agent null means every agent.
--
-- It may be an operator's or one that a provider asked for; that of a quota ends for all who draw on it. Limits that were
-- lowered by a refusal stay so, and grow from now.
--
-- Returns    how many agents were paused before
-- Writes     forebay.agents, forebay.audit_log, forebay.refusals
-- Locks      the agents, by name, then the refusals, by id
-- Errors     QF301  no such agent
-- Called by  forebay_operator
begin
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    return forebay._pause(p_agent, null, p_reason, p_actor);
end;
$function$;

comment on function forebay.resume_agent is 'End an agent''s pause. p_agent null means every agent.';
