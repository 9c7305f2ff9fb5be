create or replace function forebay._judge_call(
    p_attempt forebay.task_attempts,
    p_agent   forebay.agents,
    p_call_id text,
    p_input   bigint,
    p_output  bigint,
    p_now     timestamptz
)
    returns forebay.call_verdict
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a call may go now: when it is open already, or the agent is not paused and every limit of its quotas lets it.
--
-- While the provider pauses the agent, a call asks again every 5 s: an operator may end the pause.
declare
    v_pause     forebay.throttle := forebay._throttle(p_agent, p_now);
    v_hindrance record;
    v_permit    forebay.call_permit;
    v_free_at   timestamptz;
begin
    v_permit.decision := 'go';
    if exists (
        select from forebay.attempt_calls as c
        where c.attempt_id = p_attempt.attempt_id and c.call_id = p_call_id and not c.is_over
    ) then
        return (v_permit, null)::forebay.call_verdict;
    end if;
    if v_pause.paused_until > p_now then
        v_permit.reason := v_pause.reason;
        v_permit.wait_until := least(v_pause.paused_until, p_now + interval '5 seconds');
    else
        select h.* into v_hindrance from forebay._call_hindrance(p_attempt, p_agent.quotas, p_input, p_output, p_now) as h;
        if v_hindrance.quota is null then
            return (v_permit, null)::forebay.call_verdict;
        end if;
        v_free_at := v_hindrance.free_at;
        v_permit.quota := v_hindrance.quota;
        v_permit.unit := v_hindrance.unit;
        v_permit.needs := v_hindrance.needs;
        v_permit.has := v_hindrance.room;
        v_permit.reason := case
            when v_hindrance.needs <= v_hindrance.room then 'calls that have waited longer go first'
            else 'the quota has no room for it now'
        end;
        v_permit.wait_until := forebay._look_again_at(v_hindrance.free_at, v_hindrance.period, v_hindrance.calls, p_now);
    end if;
    v_permit.decision := 'wait';
    v_permit.waits := v_permit.wait_until - p_now;
    return (v_permit, v_free_at)::forebay.call_verdict;
end;
$function$;

comment on function forebay._judge_call is 'Whether a call may go now: when it is open already, or the agent is not paused and every limit of its quotas lets it.';
