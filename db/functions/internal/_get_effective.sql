create or replace function forebay._get_effective(p_agent text, p_now timestamptz)
    returns forebay.agents
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent with the limits and the pause that hold at p_now: as configured, and as a provider's refusals lower them.
--
-- An agent without a limit of tasks at once starts from what ran when the provider refused.
--
-- Errors  22023  p_agent is null
--         QF301  there is no such agent
declare
    v_agent    forebay.agents := forebay._get_agent(p_agent);
    v_throttle forebay.throttle := forebay._throttle(v_agent, p_now);
begin
    if v_throttle.paused_until > coalesce(v_agent.paused_until, '-infinity') then
        v_agent.paused_until := v_throttle.paused_until;
        v_agent.pause_reason := v_throttle.reason;
    end if;
    if v_throttle.share < 1 then
        v_agent.max_concurrent_tasks := forebay._lowered(
            coalesce(v_agent.max_concurrent_tasks, v_throttle.in_flight), v_throttle.share
        )::integer;
        v_agent.max_tpm := forebay._lowered(v_agent.max_tpm, v_throttle.share);
        v_agent.max_rpm := forebay._lowered(v_agent.max_rpm, v_throttle.share)::integer;
    end if;
    return v_agent;
end;
$function$;

comment on function forebay._get_effective is 'The agent with the limits and the pause that hold at p_now: as configured, and as a provider''s refusals lower them.';
