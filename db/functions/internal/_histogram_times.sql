create or replace function forebay._histogram_times(
    p_report  forebay.metrics_report,
    p_buckets smallint[],
    p_counts  bigint[]
)
    returns forebay.metrics_report
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The report with what a histogram, its buckets in order, says of times and confidences.
begin
    select
        forebay._time_at(max(m.median) filter (where m.measure = 0)), forebay._time_at(max(m.p95) filter (where m.measure = 0)),
        forebay._time_at(max(m.median) filter (where m.measure = 1)), forebay._time_at(max(m.p95) filter (where m.measure = 1)),
        forebay._time_at(max(m.median) filter (where m.measure = 2)), forebay._time_at(max(m.p95) filter (where m.measure = 2)),
        (max(m.median) filter (where m.measure = 3) + 0.5) / 100
    into
        p_report.response_median, p_report.response_p95, p_report.queue_median, p_report.queue_p95,
        p_report.run_median, p_report.run_p95, p_report.confidence_median
    from forebay._histogram_marks(p_buckets, p_counts) as m;

    p_report.confidence_counts := array(
        select coalesce(sum(b.tasks), 0)::bigint
        from generate_series(0, 19) as bin (place)
        left join unnest(p_buckets, p_counts) as b (bucket, tasks) on (b.bucket - 3000) / 5 = bin.place and b.bucket >= 3000
        group by bin.place
        order by bin.place
    );
    p_report.without_confidence := p_report.completed - (
        select sum(c.tasks)::bigint from unnest(p_report.confidence_counts) as c (tasks)
    );
    return p_report;
end;
$function$;

comment on function forebay._histogram_times is 'The report with what a histogram, its buckets in order, says of times and confidences.';
