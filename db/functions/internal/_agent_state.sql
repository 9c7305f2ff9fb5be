create or replace function forebay._agent_state(p_agent forebay.agents, p_now timestamptz)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- In one word, whether the agent admits: closed, paused, full, out_of_requests, out_of_tokens or open.
begin
    return case
        when p_agent.max_tpm = 0 or p_agent.max_rpm = 0 or p_agent.max_concurrent_tasks = 0 then 'closed'
        when p_agent.paused_until > p_now then 'paused'
        when forebay._in_use(p_agent.agent, p_agent.max_concurrent_tasks) >= p_agent.max_concurrent_tasks then 'full'
        when forebay._room(p_agent, p_now) = 0 then 'out_of_requests'
        when not forebay._head_fits(p_agent, forebay._head(p_agent.agent, p_now), p_now) then 'out_of_tokens'
        else 'open'
    end;
end;
$function$;

comment on function forebay._agent_state is 'In one word, whether the agent admits: closed, paused, full, out_of_requests, out_of_tokens or open.';
