create or replace function forebay._without_quotas(p_agent forebay.agents)
    returns forebay.agents
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent as if it drew on no quota.
declare
    v_agent forebay.agents := p_agent;
begin
    v_agent.quotas := array[]::text[];
    return v_agent;
end;
$function$;

comment on function forebay._without_quotas is 'The agent as if it drew on no quota.';
