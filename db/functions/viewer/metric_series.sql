create or replace function forebay.metric_series(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null,
    p_step      interval default null
)
    returns setof forebay.metric_point
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
-- Count tasks, and what they used and cost, step by step of when they were created; p_from and p_to are half-open.
--
-- A step is 1, 5 or 15 minutes, 1 or 6 hours, 1 or 7 days (from Monday), in UTC; null is the shortest that gives at most 120
-- points, and from 10 hours on with p_customers at least an hour. An open range begins with the first task and ends
-- with the step of now. The first and the last step end where the range does. Medians and 95th percentiles are those of
-- metrics, at most 2.5 % off or a millisecond.
--
-- Returns    one row a step, in order, those without a task too; none when the range is empty
-- Errors     22023  a status does not exist, p_step is none of these, or there were more than 1,000 points
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_origin constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
    v_from   timestamptz := coalesce(nullif(p_from, '-infinity'), (select min(t.created_at) from forebay.tasks as t));
    v_to     timestamptz := coalesce(nullif(p_to, 'infinity'), forebay._now());
    v_step   interval;
    v_slots  forebay.time_slots[];
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    v_step := forebay._step(v_from, v_to, p_step, p_customers is not null);
    if p_to is null or p_to = 'infinity' then
        v_to := date_bin(v_step, v_to, v_origin) + v_step;
    end if;
    if v_from is null or v_from >= v_to then
        return;
    end if;
    v_slots := forebay._slots(v_from, v_to, array(
        select width.minutes
        from unnest(array[40320, 1440, 60, 15]) as width (minutes)
        where make_interval(mins => width.minutes) <= v_step and (p_customers is null or width.minutes > 15)
        order by width.minutes desc
    ));

    return query select * from forebay._points_of_slots(v_slots, v_from, v_to, v_step, p_statuses, p_agents, p_customers);
end;
$function$;

comment on function forebay.metric_series is 'Count tasks, and what they used and cost, step by step of when they were created; p_from and p_to are half-open.';
