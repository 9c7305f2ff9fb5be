create or replace function forebay.may_call(
    p_attempt_id    bigint,
    p_tokens        bigint,
    p_output_tokens bigint default null,
    p_call_id       text default null
)
    returns forebay.call_permit
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Ask, before a model call of p_tokens in all, whether the agent's quotas have room for it: go, wait, or stop.
--
-- p_output_tokens: how many of them are output at most; null: the agent's learned share. A call that may go is charged to
-- every limit at once and counts from now, before the provider sees it; report_usage with the same call_id replaces the
-- charge by what was used, also when the call failed (zero tokens). A call that has to wait is charged nothing, and keeps
-- its place in line if it asks again within 5 s of its time. An attempt waits with one call at a time. While the provider
-- pauses the agent, every call waits. A call that is open under its p_call_id may go, and is charged once; after its report
-- the next try needs another id.
-- Call it in a transaction of its own: the quotas stay locked until commit.
--
-- Returns    decision go; wait, with the moment to ask again and what hinders it; or stop, when the attempt has ended
-- Writes     forebay.attempt_calls, forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements, forebay.task_attempts
-- Locks      the attempt, then the agent's quotas by name
-- Errors     22023  p_attempt_id is null, p_tokens or p_output_tokens is out of range, or p_call_id is empty, too long, or was
--                   reported already
--            25001  the transaction is not READ COMMITTED
--            QF304  there is no such attempt
-- Called by  forebay_agent
declare
    v_agent   forebay.agents;
    v_attempt forebay.task_attempts;
    v_output  bigint;
    v_now     timestamptz;
    v_permit  forebay.call_permit;
    v_verdict forebay.call_verdict;
begin
    perform forebay._require_call(p_tokens, p_output_tokens, p_call_id);
    v_agent := forebay._get_agent((forebay._get_attempt(p_attempt_id)).agent);
    v_output := coalesce(p_output_tokens, forebay._output_share(v_agent.agent, p_tokens));
    perform 1 from forebay.task_attempts as a where a.attempt_id = p_attempt_id for no key update;
    perform forebay._lock_quotas(v_agent, true);
    v_attempt := forebay._get_attempt(p_attempt_id);
    v_now := forebay._now();

    if v_attempt.finished_at is not null then
        v_permit.decision := 'stop';
        v_permit.reason := 'the attempt has ended: ' || v_attempt.status;
        return v_permit;
    end if;
    perform forebay._require_unreported(p_attempt_id, p_call_id);
    if not forebay._still_asks(v_attempt.call_wait_until, v_now) then
        v_attempt.call_asked_at := null;
    end if;
    v_verdict := forebay._judge_call(v_attempt, v_agent, p_call_id, p_tokens - v_output, v_output, v_now);
    if (v_verdict.permit).decision = 'go' then
        perform forebay._grant_call(v_attempt, v_agent.quotas, p_call_id, p_tokens - v_output, v_output, v_now);
    else
        perform forebay._hold_call(v_attempt, v_verdict, p_tokens - v_output, v_output, v_now);
    end if;
    return v_verdict.permit;
end;
$function$;

comment on function forebay.may_call is 'Ask, before a model call of p_tokens in all, whether the agent''s quotas have room for it: go, wait, or stop.';
