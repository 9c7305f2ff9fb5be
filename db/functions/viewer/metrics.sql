create or replace function forebay.metrics(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns forebay.metrics_report
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Count tasks, and add up what they used, cost and took; p_from and p_to are half-open, on created_at.
--
-- Counts and sums are exact, whatever the range. Times and confidences are of completed tasks: response is from created to
-- finished, run what its attempts ran, queue the rest. Each is that of one task: the median of an even count is the lower of
-- the two in the middle, and at least 95 % are not above p95. They are exact where at most 10,000 tasks were created in the
-- range, else at most 2.5 % off, or a millisecond (confidence: 0.005); is_exact says which. A customer '' is none.
--
-- Returns    one row
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_from   timestamptz := coalesce(p_from, '-infinity');
    v_to     timestamptz := coalesce(p_to, 'infinity');
    v_slots  forebay.time_slots[];
    v_report forebay.metrics_report;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    v_slots := forebay._slots(
        v_from, v_to, case when p_customers is null then array[40320, 1440, 60, 15] else array[40320, 1440, 60] end
    );

    v_report := forebay._report_of_slots(v_slots, p_statuses, p_agents, p_customers);
    v_report.is_exact := forebay._is_small(v_from, v_to);
    if v_report.is_exact then
        v_report := forebay._exact_times(v_report, v_from, v_to, p_statuses, p_agents, p_customers);
    end if;
    v_report.as_of := forebay._now();
    return v_report;
end;
$function$;

comment on function forebay.metrics is 'Count tasks, and add up what they used, cost and took; p_from and p_to are half-open, on created_at.';
