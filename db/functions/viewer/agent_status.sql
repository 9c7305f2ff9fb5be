create or replace function forebay.agent_status(p_agents text[] default null)
    returns setof forebay.agent_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each agent as it stands now: what waits and runs, its limits and how much of them is left, whether it is paused.
--
-- Returns    one row an agent, by name; state is closed (a limit is 0), paused, full, out_of_requests, out_of_tokens or open
-- Errors     QF301  no such agent
-- Called by  forebay_viewer
declare
    v_agents text[] := p_agents;
    v_now    timestamptz := forebay._now();
begin
    perform forebay._require_agents(p_agents);
    return query
    select
        a.agent, a.launcher, forebay._agent_state(a, v_now),
        (
            select count(*) from forebay.tasks as t
            where t.agent = a.agent and t.status = 'enqueued' and (t.is_ready or t.available_at <= v_now)
        ),
        (
            select count(*) from forebay.tasks as t
            where t.agent = a.agent and t.status = 'enqueued' and not t.is_ready and t.available_at > v_now
        ),
        flight.tasks, a.max_concurrent_tasks,
        a.max_tpm, levels.tokens, forebay._token_burst(a), flight.tokens,
        a.max_rpm, levels.requests, forebay._request_burst(a),
        case when a.paused_until > v_now then a.paused_until end, case when a.paused_until > v_now then a.pause_reason end,
        (
            select min(t.created_at) from forebay.tasks as t
            where t.agent = a.agent and t.status = 'enqueued' and (t.is_ready or t.available_at <= v_now)
        ),
        a.job_id, a.entry_point, a.lease, a.timeout, a.max_attempts,
        1::numeric, a.max_concurrent_tasks, a.max_tpm, a.max_rpm, null::bigint, null::bigint, null::bigint,
        0, 1::numeric, 1::numeric, 1::numeric, null::bigint, null::numeric, null::numeric,
        null::numeric, null::numeric, a.max_usd_per_day,
        a.max_waiting, a.aging, a.reserve_after, a.is_fair_by_customer, '[]'::jsonb
    from forebay.agents as a
    cross join lateral forebay._levels(a, v_now) as levels
    cross join lateral (
        select count(*) as tasks, coalesce(sum(o.estimated_tokens), 0)::bigint as tokens
        from forebay.task_attempts as o
        where o.agent = a.agent and o.finished_at is null
    ) as flight
    where v_agents is null or a.agent = any(v_agents)
    order by a.agent;
end;
$function$;

comment on function forebay.agent_status is 'Each agent as it stands now: what waits and runs, its limits and how much of them is left, whether it is paused.';
