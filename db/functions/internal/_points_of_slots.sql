create or replace function forebay._points_of_slots(
    p_slots     forebay.time_slots[],
    p_from      timestamptz,
    p_to        timestamptz,
    p_step      interval,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.metric_point
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What metric_series says of a range that is cut into slots, none of them wider than a step.
declare
    v_origin constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
begin
    return query
    with cells as materialized (
        select date_bin(p_step, c.starts_at, v_origin) as step_at, c.*
        from forebay._cells(p_slots, p_statuses, p_agents, p_customers is not null, p_customers) as c
    ), histograms as (
        select c.step_at, array_agg(b.bucket) as buckets, array_agg(b.tasks) as counts
        from cells as c
        cross join lateral unnest(c.buckets, c.counts) as b (bucket, tasks)
        where b.bucket < 1000  -- of responses
        group by c.step_at
    ), marks as (
        select h.step_at, m.median, m.p95
        from histograms as h
        cross join lateral forebay._histogram_marks(h.buckets, h.counts) as m
    ), sums as (
        select
            c.step_at, sum(c.tasks) filter (where c.status = 'enqueued') as enqueued,
            sum(c.tasks) filter (where c.status = 'processing') as processing,
            sum(c.tasks) filter (where c.status = 'completed') as completed,
            sum(c.tasks) filter (where c.status = 'failed') as failed,
            sum(c.tasks) filter (where c.status = 'cancelled') as cancelled,
            sum(c.input_tokens) as input_tokens, sum(c.output_tokens) as output_tokens,
            sum(c.cached_tokens) as cached_tokens, sum(c.llm_usd) as llm_usd, sum(c.compute_usd) as compute_usd
        from cells as c
        group by c.step_at
    )
    select
        greatest(steps.step_at, p_from), least(steps.step_at + p_step, p_to), coalesce(s.enqueued, 0)::bigint,
        coalesce(s.processing, 0)::bigint, coalesce(s.completed, 0)::bigint, coalesce(s.failed, 0)::bigint,
        coalesce(s.cancelled, 0)::bigint, coalesce(s.input_tokens, 0)::bigint, coalesce(s.output_tokens, 0)::bigint,
        coalesce(s.cached_tokens, 0)::bigint, coalesce(s.llm_usd, 0), coalesce(s.compute_usd, 0),
        forebay._time_at(m.median), forebay._time_at(m.p95)
    from generate_series(date_bin(p_step, p_from, v_origin), p_to - interval '1 microsecond', p_step) as steps (step_at)
    left join sums as s on s.step_at = steps.step_at
    left join marks as m on m.step_at = steps.step_at
    order by steps.step_at;
end;
$function$;

comment on function forebay._points_of_slots is
'What metric_series says of a range that is cut into slots, none of them wider than a step.';
