create or replace function forebay.monitoring()
    returns setof forebay.gauge
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Gauges for a monitoring system: what waits and runs, what limits it, what it costs, and whether the machinery turns.
--
-- It reads what is open or recent, never the history. A metric without a value now has no row.
--
-- Returns    one row a metric and set of labels, rows of a metric together; labels have text values
-- Called by  forebay_viewer
declare
    v_now    timestamptz := forebay._now();
    v_health forebay.health_report := forebay.health();
begin
    return query
    select told.metric, words.help, jsonb_strip_nulls(told.labels), told.value
    from (
        select g.metric, jsonb_build_object('agent', a.agent, 'state', g.state) as labels, g.value
        from forebay.agents as a
        cross join lateral forebay._agent_gauges(a.agent, v_now) as g
        union all
        select limits.metric, jsonb_build_object('quota', l.quota, 'unit', l.unit, 'period', l.period::text), limits.value
        from forebay._quota_limits(array(select q.quota from forebay.quotas as q), v_now) as l
        cross join lateral (
            values
            ('forebay_quota_used', (l.capacity - l.room)::double precision),
            ('forebay_quota_limit', l.effective::double precision)
        ) as limits (metric, value)
        union all
        select
            whole.metric, jsonb_build_object('version', case whole.metric when 'forebay_schema_info' then v_health.schema_version end),
            whole.value::double precision
        from (
            values
            (
                'forebay_dispatchers',
                (select count(*) from forebay.dispatchers as d where d.last_claim_at > v_now - interval '1 minute')::numeric
            ),
            ('forebay_listeners', v_health.listeners),
            ('forebay_claim_age_seconds', extract(epoch from v_now - v_health.last_claim_at)),
            ('forebay_sweep_age_seconds', extract(epoch from v_now - v_health.last_sweep_at)),
            ('forebay_expired_leases', v_health.expired_leases),
            ('forebay_oldest_transaction_seconds', coalesce(extract(epoch from clock_timestamp() - v_health.oldest_transaction_at), 0)),
            ('forebay_notify_queue_ratio', v_health.notify_queue_usage::numeric),
            ('forebay_may_dispatch', v_health.may_dispatch::integer),
            ('forebay_schema_info', 1)
        ) as whole (metric, value)
    ) as told
    inner join forebay._gauge_words() as words on words.metric = told.metric
    where told.value is not null
    order by told.metric, told.labels;
end;
$function$;

comment on function forebay.monitoring is
'Gauges for a monitoring system: what waits and runs, what limits it, what it costs, and whether the machinery turns.';
