create or replace function forebay._conditions(p_oldest_waiting interval, p_now timestamptz)
    returns setof forebay.condition
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What holds at p_now and has to be told once: agents that are paused or whose tasks wait too long, and caps that are reached.
--
-- A cap is reached when recorded and expected cost leave nothing of it, or when the first task that does not fit lacks it.
declare
    v_agent   forebay.agents;
    v_waits   timestamptz;
    v_fit     forebay.fit;
    v_reached text[] := forebay._capped_customers(p_now);
begin
    for v_agent in
        select effective.* from forebay.agents as a
        cross join lateral forebay._get_effective(a.agent, p_now) as effective
        order by a.agent
    loop
        if v_agent.paused_until > p_now then
            return next (
                'agent.paused', v_agent.agent, '',
                jsonb_build_object(
                    'agent', v_agent.agent, 'until', nullif(v_agent.paused_until, 'infinity'), 'reason', v_agent.pause_reason
                ),
                p_now
            )::forebay.condition;
        end if;
        v_waits := forebay._waits_since(v_agent.agent, p_now);
        if v_waits < p_now - p_oldest_waiting then
            return next (
                'waiting.too_long', v_agent.agent, '',
                jsonb_build_object('agent', v_agent.agent, 'waiting_since', v_waits), p_now
            )::forebay.condition;
        end if;
        v_fit := null;
        if forebay._has_caps(v_agent) then
            v_fit := forebay._agent_state(v_agent, p_now);
        end if;
        if v_fit.reason = 'spend_cap' and (v_fit.subject <> v_agent.agent or v_agent.max_usd_per_day is null) then
            v_reached := v_reached || v_fit.subject;
        elsif v_fit.reason = 'spend_cap'
            or exists (select from forebay._caps(v_agent, '{}', p_now) as c where c.customer is null and c.has <= 0) then
            return next forebay._cap_condition(v_agent.agent, null, v_agent.max_usd_per_day, p_now);
        end if;
    end loop;
    return query
    select reached.*
    from forebay.customers as c
    cross join lateral forebay._cap_condition(null, c.customer, c.max_usd_per_day, p_now) as reached
    where c.customer = any(v_reached);
end;
$function$;

comment on function forebay._conditions is
'What holds at p_now and has to be told once: agents that are paused or whose tasks wait too long, and caps that are reached.';
