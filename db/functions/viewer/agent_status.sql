create or replace function forebay.agent_status(p_agents text[] default null)
    returns setof forebay.agent_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each agent as it stands now: what waits and runs, its limits and how much of them is left, what it has learned and spent.
--
-- The numbers are those that dequeue decides by. Levels and bursts are those of the effective limits. quotas holds what
-- quota_status says of each, the period in seconds.
--
-- Returns    one row an agent, by name; state is closed (a limit is 0), paused, held_up (its launches fail), full, out_of_requests,
--            out_of_tokens, quota, spend_cap (by which the first that waits and does not fit is held up: hindrance says it in
--            words) or open
-- Errors     QF301  no such agent
-- Called by  forebay_viewer
declare
    v_agents text[] := p_agents;
    v_now    timestamptz := forebay._now();
begin
    perform forebay._require_agents(p_agents);
    return query
    select
        a.agent, a.launcher, held.reason, line.waiting, line.delayed, flight.tasks, a.max_concurrent_tasks,
        a.max_tpm, levels.tokens, forebay._token_burst(effective), flight.tokens,
        a.max_rpm, levels.requests, forebay._request_burst(effective),
        case when effective.paused_until > v_now then effective.paused_until end,
        case when effective.paused_until > v_now then effective.pause_reason end,
        forebay._waits_since(a.agent, v_now), a.job_id, a.entry_point, a.lease, a.timeout, a.max_attempts,
        throttle.share, effective.max_concurrent_tasks, effective.max_tpm, effective.max_rpm,
        flight.projected_tpm, minute.starts, minute.tokens,
        learned.samples, (learned.input_permille + learned.output_permille) * 0.001, learned.input_permille * 0.001,
        learned.output_permille * 0.001, learned.typical_input + learned.typical_output,
        case when learned.typical_input is not null then learned.calls end, learned.tokens_per_second,
        spent.recorded, spent.projected, a.max_usd_per_day,
        a.max_waiting, a.aging, a.reserve_after, a.is_fair_by_customer,
        (
            select coalesce(
                jsonb_agg(to_jsonb(q) || jsonb_build_object('period', extract(epoch from q.period)) order by q.quota, q.unit, q.period),
                '[]'
            )
            from unnest(a.quotas) as names (quota)
            cross join lateral forebay._quota_state(names.quota, v_now) as q
        ),
        a.tpm_burst, a.max_releases, a.backoff_base, a.backoff_max, a.on_lost_lease, a.late_results, a.default_estimated_tokens,
        a.retention, a.max_deferrals, a.max_deferral_time, a.quotas, forebay._hindrance_words(held)
    from forebay.agents as a
    cross join lateral forebay._get_effective(a.agent, v_now) as effective
    cross join lateral forebay._agent_state(effective, v_now) as held
    cross join lateral forebay._throttle(a, v_now) as throttle
    cross join lateral forebay._levels(effective, v_now) as levels
    cross join lateral forebay._learned(a.agent) as learned
    cross join lateral forebay._spent_today(a.agent, null, v_now) as spent
    cross join lateral forebay._line_state(a.agent, v_now) as line
    cross join lateral forebay._flight_state(a.agent, learned.tokens_per_second) as flight
    cross join lateral forebay._last_minute(a.agent, v_now) as minute
    where v_agents is null or a.agent = any(v_agents)
    order by a.agent;
end;
$function$;

comment on function forebay.agent_status is
'Each agent as it stands now: what waits and runs, its limits and how much of them is left, what it has learned and spent.';
