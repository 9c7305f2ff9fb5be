create or replace function forebay._report_of_slots(
    p_slots     forebay.time_slots[],
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
-- What metrics says of the tasks of slots: exact counts and sums, times and confidences by their histogram.
declare
    v_report  forebay.metrics_report;
    v_buckets smallint[];
    v_counts  bigint[];
begin
    with cells as materialized (
        select c.* from forebay._cells(p_slots, p_statuses, p_agents, p_customers is not null, p_customers) as c
    ), histogram as (
        select array_agg(h.bucket order by h.bucket) as buckets, array_agg(h.tasks order by h.bucket) as counts
        from (
            select b.bucket, sum(b.tasks)::bigint as tasks
            from cells as c
            cross join lateral unnest(c.buckets, c.counts) as b (bucket, tasks)
            group by b.bucket
        ) as h
    ), sums as (
        select
            coalesce(sum(c.tasks) filter (where c.status = 'enqueued'), 0)::bigint as enqueued,
            coalesce(sum(c.tasks) filter (where c.status = 'processing'), 0)::bigint as processing,
            coalesce(sum(c.tasks) filter (where c.status = 'completed'), 0)::bigint as completed,
            coalesce(sum(c.tasks) filter (where c.status = 'failed'), 0)::bigint as failed,
            coalesce(sum(c.tasks) filter (where c.status = 'cancelled'), 0)::bigint as cancelled,
            coalesce(sum(c.ended_attempts), 0)::bigint as ended, coalesce(sum(c.measured_attempts), 0)::bigint as measured,
            coalesce(sum(c.priced_attempts), 0)::bigint as priced, coalesce(sum(c.costed_attempts), 0)::bigint as costed,
            coalesce(sum(c.provisional_attempts), 0)::bigint as provisional, coalesce(sum(c.input_tokens), 0)::bigint as input_tokens,
            coalesce(sum(c.output_tokens), 0)::bigint as output_tokens, coalesce(sum(c.cached_tokens), 0)::bigint as cached_tokens,
            coalesce(sum(c.llm_usd), 0) as llm_usd, coalesce(sum(c.compute_usd), 0) as compute_usd
        from cells as c
    )
    select
        s.enqueued, s.processing, s.completed, s.failed, s.cancelled, s.ended, s.measured, s.priced, s.costed,
        s.input_tokens, s.output_tokens, s.cached_tokens, s.llm_usd, s.compute_usd,
        (select min(source.as_of) from forebay.compute_sources as source), s.costed = s.ended and s.provisional = 0,
        h.buckets, h.counts
    into
        v_report.enqueued, v_report.processing, v_report.completed, v_report.failed, v_report.cancelled,
        v_report.ended_attempts, v_report.measured_attempts, v_report.priced_attempts, v_report.costed_attempts,
        v_report.input_tokens, v_report.output_tokens, v_report.cached_tokens, v_report.llm_usd, v_report.compute_usd,
        v_report.compute_as_of, v_report.is_compute_final, v_buckets, v_counts
    from sums as s
    cross join histogram as h;
    return forebay._histogram_times(v_report, v_buckets, v_counts);
end;
$function$;

comment on function forebay._report_of_slots is
'What metrics says of the tasks of slots: exact counts and sums, times and confidences by their histogram.';
