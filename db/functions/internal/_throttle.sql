create or replace function forebay._throttle(p_agent forebay.agents, p_now timestamptz)
    returns forebay.throttle
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a provider's refusals mean for the agent at p_now.
--
-- Those without a quota pause it and lower its own limits. Those of a quota lower the quota, and pause all who draw on it.
-- The longest pause holds.
declare
    v_throttle forebay.throttle := forebay._throttled_by(forebay._last_refusal(p_agent.agent, null), p_now);
    v_other    forebay.throttle;
    v_quota    text;
begin
    foreach v_quota in array p_agent.quotas loop
        v_other := forebay._quota_throttle(v_quota, p_now);
        if v_other.paused_until > coalesce(v_throttle.paused_until, '-infinity') then
            v_throttle.paused_until := v_other.paused_until;
            v_throttle.reason := v_other.reason;
        end if;
    end loop;
    return v_throttle;
end;
$function$;

comment on function forebay._throttle is 'What a provider''s refusals mean for the agent at p_now.';
