create or replace function forebay._judge_call(
    p_attempt forebay.task_attempts,
    p_agent   forebay.agents,
    p_call_id text,
    p_input   bigint,
    p_output  bigint,
    p_now     timestamptz
)
    returns forebay.call_permit
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a call may go now: when it is open already, or the agent is not paused and every limit of its quotas lets it.
--
-- Room may come sooner than foreseen, from calls that end, or that used less than they were granted. So a call looks again
-- after half a second (a twelfth of a shorter period, a twentieth of a second where calls are counted), and a twentieth
-- more for each call before it: those in front look often, and however many wait, they look less than 100 times a second.
declare
    v_pause     forebay.throttle;
    v_hindrance record;
    v_wait      interval := interval '5 seconds';
    v_permit    forebay.call_permit;
begin
    v_permit.decision := 'go';
    if exists (
        select from forebay.attempt_calls as c where c.attempt_id = p_attempt.attempt_id and c.call_id = p_call_id and not c.is_over
    ) then
        return v_permit;
    end if;
    v_pause := forebay._throttle(p_agent, p_now);
    if v_pause.paused_until > p_now then
        v_permit.reason := v_pause.reason;
        v_permit.wait_until := v_pause.paused_until;
    else
        select h.* into v_hindrance from forebay._call_hindrance(p_attempt, p_agent.quotas, p_input, p_output, p_now) as h;
        if v_hindrance.quota is null then
            return v_permit;
        end if;
        v_permit.quota := v_hindrance.quota;
        v_permit.unit := v_hindrance.unit;
        v_permit.needs := v_hindrance.needs;
        v_permit.has := v_hindrance.room;
        v_permit.reason := case
            when v_hindrance.needs <= v_hindrance.room then 'calls that have waited longer go first'
            else 'the quota has no room for it now'
        end;
        v_permit.wait_until := v_hindrance.free_at;
        v_wait := case
            when v_hindrance.period = '0' then interval '50 milliseconds'
            else least(interval '500 milliseconds', v_hindrance.period / 12)
        end + v_hindrance.calls * interval '50 milliseconds';
    end if;
    v_permit.decision := 'wait';
    v_permit.wait_until := least(
        greatest(coalesce(v_permit.wait_until, 'infinity'), p_now + interval '5 milliseconds'), p_now + v_wait
    );
    v_permit.waits := v_permit.wait_until - p_now;
    return v_permit;
end;
$function$;

comment on function forebay._judge_call is 'Whether a call may go now: when it is open already, or the agent is not paused and every limit of its quotas lets it.';
