create or replace function forebay._refuse(
    p_attempt forebay.task_attempts,
    p_agent   forebay.agents,
    p_quota   text,
    p_wait    interval
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note that a provider refused the attempt's calls: nothing starts until p_wait is over, then less than before.
--
-- The refusal is of the quota that the error names (p_quota) if the agent draws on it, else of its only quota, else of the
-- agent alone. It halves the share of the agent's own limits; a quota's limits are known, so a refusal means a little too
-- much, and takes a tenth of the share. No share falls below a tenth. A refusal of an attempt that was claimed before the
-- share was lowered says nothing of the lower share: it lowers nothing again, as long as the share has not grown since.
-- Two that do not see each other write the same share, so no lock is needed.
--
-- Writes  forebay.refusals
declare
    v_now     timestamptz := forebay._now();
    v_quota   text := case
        when p_quota = any(p_agent.quotas) then p_quota
        when cardinality(p_agent.quotas) = 1 then p_agent.quotas[1]
    end;
    v_refusal forebay.refusals := forebay._last_refusal(p_agent.agent, v_quota);
    v_share   numeric := forebay._share(v_refusal, v_now);
begin
    if p_attempt.started_at > v_refusal.lowered_at or v_share > v_refusal.share or v_refusal.refusal_id is null then
        v_refusal.share := greatest(0.1, trunc(v_share * case when v_quota is null then 0.5 else 0.9 end, 3));
        v_refusal.lowered_at := v_now;
        v_refusal.in_flight := greatest(
            (forebay._in_use(p_agent.agent, 10000) + 1)::integer, case when v_share < 1 then v_refusal.in_flight end
        );
    end if;
    insert into forebay.refusals (agent, quota, in_flight, paused_until, share, lowered_at)
    values (
        p_agent.agent, v_quota, v_refusal.in_flight, v_now + coalesce(forebay._exact(p_wait), interval '0'),
        v_refusal.share, v_refusal.lowered_at
    );
end;
$function$;

comment on function forebay._refuse is 'Note that a provider refused the attempt''s calls: nothing starts until p_wait is over, then less than before.';
