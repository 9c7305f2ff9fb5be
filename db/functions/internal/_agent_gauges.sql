create or replace function forebay._agent_gauges(p_agent text, p_now timestamptz)
    returns table (metric text, state text, value double precision)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What monitoring tells of an agent; state is that of its tasks, null for other metrics.
declare
    v_agent forebay.agents := forebay._get_effective(p_agent, p_now);
    v_since timestamptz := p_now - interval '1 hour';
    v_waits timestamptz := forebay._waits_since(p_agent, p_now);
begin
    return query
    select told.metric, told.state, told.value::double precision
    from forebay._line_state(p_agent, p_now) as line
    cross join forebay._levels(v_agent, p_now) as levels
    cross join forebay._last_minute(p_agent, p_now) as minute
    cross join lateral (
        values
        ('forebay_tasks', 'waiting', line.waiting::numeric),
        ('forebay_tasks', 'delayed', line.delayed),
        ('forebay_tasks', 'processing', (
            select count(*) from forebay.task_attempts as a where a.agent = p_agent and a.finished_at is null
        )),
        ('forebay_oldest_waiting_seconds', null, coalesce(extract(epoch from greatest(p_now - v_waits, interval '0')), 0)),
        ('forebay_starts_last_minute', null, minute.starts),
        ('forebay_tokens_last_minute', null, minute.tokens),
        ('forebay_refusals_last_hour', null, (
            select count(*) from forebay.refusals as r where r.agent = p_agent and r.lowered_at > v_since
        )),
        ('forebay_lost_leases_last_hour', null, (
            select count(*) from forebay.task_attempts as a
            where a.status = 'lost' and a.finished_at > v_since and a.agent = p_agent
        )),
        ('forebay_token_bucket_level', null, levels.tokens),
        ('forebay_token_bucket_size', null, forebay._token_burst(v_agent)),
        ('forebay_token_limit_per_minute', null, v_agent.max_tpm),
        ('forebay_request_limit_per_minute', null, v_agent.max_rpm),
        ('forebay_concurrency_limit', null, v_agent.max_concurrent_tasks),
        ('forebay_paused', null, coalesce(v_agent.paused_until > p_now, false)::integer),
        ('forebay_cost_today_usd', null, (forebay._spent_today(p_agent, null, p_now)).recorded),
        ('forebay_spend_cap_usd', null, forebay._cap_today(p_agent, '', v_agent.max_usd_per_day, p_now))
    ) as told (metric, state, value)
    where told.value is not null;
end;
$function$;

comment on function forebay._agent_gauges is
'What monitoring tells of an agent; state is that of its tasks, null for other metrics.';
