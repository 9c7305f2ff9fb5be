create or replace function forebay._agent_state(p_agent forebay.agents, p_now timestamptz)
    returns forebay.fit
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- In one word, whether the agent admits, as reason; and what the first task that does not fit lacks.
--
-- The word is closed, paused, held_up, full, out_of_requests, out_of_tokens, quota, spend_cap or open. The agent is the one
-- that _get_effective gives.
declare
    v_fit forebay.fit;
begin
    if p_agent.max_tpm = 0 or p_agent.max_rpm = 0 or p_agent.max_concurrent_tasks = 0 then
        v_fit.reason := 'closed';
    elsif p_agent.paused_until > p_now then
        v_fit.reason := 'paused';
    elsif forebay._is_held_up(p_agent, p_now) then
        v_fit.reason := 'held_up';
    elsif forebay._in_use(p_agent.agent, p_agent.max_concurrent_tasks) >= p_agent.max_concurrent_tasks then
        v_fit.reason := 'full';
    elsif forebay._room(p_agent, p_now) = 0 then
        v_fit.reason := 'out_of_requests';
    elsif not forebay._is_weighed(p_agent) then
        v_fit.reason := 'open';
    else
        v_fit := forebay._fitting(p_agent, forebay._line(p_agent, 101, null, p_now, false), 1, p_now);
        v_fit.reason := case when v_fit.places = '{}' then coalesce(v_fit.reason, 'open') else 'open' end;
    end if;
    return v_fit;
end;
$function$;

comment on function forebay._agent_state is
'In one word, whether the agent admits, as reason; and what the first task that does not fit lacks.';
