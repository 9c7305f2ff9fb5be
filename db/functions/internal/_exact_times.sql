create or replace function forebay._exact_times(
    p_report    forebay.metrics_report,
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns forebay.metrics_report
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The report with the exact medians and 95th percentiles, of the tasks themselves.
--
-- Each is that of a task: of an even count the lower of the two in the middle, as _histogram_marks has it.
begin
    select
        v.response[1], v.response[2], v.queue[1], v.queue[2], v.run[1], v.run[2], v.confidence
    into
        p_report.response_median, p_report.response_p95, p_report.queue_median, p_report.queue_p95,
        p_report.run_median, p_report.run_p95, p_report.confidence_median
    from (
        select
            percentile_disc(array[0.5, 0.95]) within group (order by t.finished_at - t.created_at) as response,
            percentile_disc(array[0.5, 0.95]) within group (
                order by greatest(t.finished_at - t.created_at - t.run_time, interval '0')
            ) as queue,
            percentile_disc(array[0.5, 0.95]) within group (
                order by least(t.run_time, t.finished_at - t.created_at)
            ) as run,
            percentile_disc(0.5) within group (order by t.confidence) as confidence
        from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
        where t.status = 'completed'
    ) as v;
    return p_report;
end;
$function$;

comment on function forebay._exact_times is 'The report with the exact medians and 95th percentiles, of the tasks themselves.';
