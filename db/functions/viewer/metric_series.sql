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
-- with the step of now. The first and the last step end where the range does.
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

    return query
    with cells as materialized (
        select date_bin(v_step, c.starts_at, v_origin) as step_at, c.*
        from forebay._cells(v_slots, p_statuses, p_agents, p_customers is not null, p_customers) as c
    ), ranked as (
        select
            h.step_at, h.place, sum(h.tasks) over (partition by h.step_at order by h.place) as upto,
            sum(h.tasks) over (partition by h.step_at) as tasks
        from (
            select c.step_at, b.bucket as place, sum(b.tasks) as tasks
            from cells as c
            cross join lateral unnest(c.buckets, c.counts) as b (bucket, tasks)
            where b.bucket < 1000
            group by c.step_at, b.bucket
            having sum(b.tasks) > 0
        ) as h
    ), marks as (
        select
            r.step_at,
            min(r.place) filter (where r.upto >= r.tasks * 0.5) as median,
            min(r.place) filter (where r.upto >= r.tasks * 0.95) as p95
        from ranked as r
        group by r.step_at
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
        greatest(steps.step_at, v_from), least(steps.step_at + v_step, v_to), coalesce(s.enqueued, 0)::bigint,
        coalesce(s.processing, 0)::bigint, coalesce(s.completed, 0)::bigint, coalesce(s.failed, 0)::bigint,
        coalesce(s.cancelled, 0)::bigint, coalesce(s.input_tokens, 0)::bigint, coalesce(s.output_tokens, 0)::bigint,
        coalesce(s.cached_tokens, 0)::bigint, coalesce(s.llm_usd, 0), coalesce(s.compute_usd, 0),
        forebay._time_at(m.median), forebay._time_at(m.p95)
    from generate_series(date_bin(v_step, v_from, v_origin), v_to - interval '1 microsecond', v_step) as steps (step_at)
    left join sums as s on s.step_at = steps.step_at
    left join marks as m on m.step_at = steps.step_at
    order by steps.step_at;
end;
$function$;

comment on function forebay.metric_series is 'Count tasks, and what they used and cost, step by step of when they were created; p_from and p_to are half-open.';
