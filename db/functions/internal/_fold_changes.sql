create or replace function forebay._fold_changes(p_at_least integer)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add the noted changes of tasks to the rollups, if p_at_least of them wait; when somebody else is at it, leave it to them.
--
-- A change is deleted and added in one statement: whoever reads both tables in one statement sees it once. Only the holder
-- of the lock writes here, so it never waits, and a rollback undoes both.
--
-- Writes  forebay.task_changes, forebay.task_rollups
-- Locks   an advisory lock, without waiting
declare
    v_origin         constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
    v_narrow         constant interval := interval '15 minutes';
    v_minutes        constant integer[] := array[15, 60, 1440, 40320, 60, 1440, 40320];
    v_is_by_customer constant boolean[] := array[false, false, false, false, true, true, true];
begin
    if not pg_try_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0)) then
        return;
    end if;
    perform 1 from forebay.task_changes as c offset greatest(p_at_least, 1) - 1 limit 1;
    if not found then
        return;
    end if;
    with folded as (
        delete from forebay.task_changes as c returning c.*
    ), narrow as (
        select
            date_bin(v_narrow, f.starts_at, v_origin) as starts_at, f.agent, f.customer, f.status,
            sum(f.tasks) as tasks, sum(f.ended_attempts) as ended_attempts,
            sum(f.measured_attempts) as measured_attempts, sum(f.priced_attempts) as priced_attempts,
            sum(f.costed_attempts) as costed_attempts, sum(f.provisional_attempts) as provisional_attempts,
            sum(f.input_tokens) as input_tokens, sum(f.output_tokens) as output_tokens,
            sum(f.cached_tokens) as cached_tokens, sum(f.llm_usd) as llm_usd, sum(f.compute_usd) as compute_usd
        from folded as f
        group by 1, f.agent, f.customer, f.status
    ), wide as (
        select
            width.minutes, width.is_by_customer, case when width.is_by_customer then n.customer else '' end as customer,
            date_bin(make_interval(mins => width.minutes), n.starts_at, v_origin) as starts_at, n.agent, n.status,
            sum(n.tasks) as tasks, sum(n.ended_attempts) as ended_attempts,
            sum(n.measured_attempts) as measured_attempts, sum(n.priced_attempts) as priced_attempts,
            sum(n.costed_attempts) as costed_attempts, sum(n.provisional_attempts) as provisional_attempts,
            sum(n.input_tokens) as input_tokens, sum(n.output_tokens) as output_tokens,
            sum(n.cached_tokens) as cached_tokens, sum(n.llm_usd) as llm_usd, sum(n.compute_usd) as compute_usd
        from narrow as n
        cross join unnest(v_minutes, v_is_by_customer) as width (minutes, is_by_customer)
        group by 1, 2, 3, 4, n.agent, n.status
    ), narrow_buckets as (
        select
            date_bin(v_narrow, f.starts_at, v_origin) as starts_at, f.agent, f.customer, f.status, b.bucket,
            sum(f.tasks) as tasks
        from folded as f
        cross join lateral unnest(f.buckets) as b (bucket)
        group by 1, f.agent, f.customer, f.status, b.bucket
    ), wide_buckets as (
        select
            width.minutes, width.is_by_customer, case when width.is_by_customer then n.customer else '' end as customer,
            date_bin(make_interval(mins => width.minutes), n.starts_at, v_origin) as starts_at, n.agent, n.status,
            n.bucket, sum(n.tasks)::bigint as tasks
        from narrow_buckets as n
        cross join unnest(v_minutes, v_is_by_customer) as width (minutes, is_by_customer)
        group by 1, 2, 3, 4, n.agent, n.status, n.bucket
    ), filled as (
        select
            w.minutes, w.is_by_customer, w.customer, w.starts_at, w.agent, w.status,
            array_agg(w.bucket order by w.bucket) as buckets, array_agg(w.tasks order by w.bucket) as counts
        from wide_buckets as w
        group by w.minutes, w.is_by_customer, w.customer, w.starts_at, w.agent, w.status
    )
    insert into forebay.task_rollups as r (
        minutes, is_by_customer, customer, starts_at, agent, status, tasks, ended_attempts, measured_attempts,
        priced_attempts, costed_attempts, provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd,
        compute_usd, buckets, counts
    )
    select s.*, coalesce(f.buckets, '{}'), coalesce(f.counts, '{}')
    from wide as s
    left join filled as f using (minutes, is_by_customer, customer, starts_at, agent, status)
    on conflict (minutes, is_by_customer, customer, starts_at, agent, status) do update set
        tasks = r.tasks + excluded.tasks,
        ended_attempts = r.ended_attempts + excluded.ended_attempts,
        measured_attempts = r.measured_attempts + excluded.measured_attempts,
        priced_attempts = r.priced_attempts + excluded.priced_attempts,
        costed_attempts = r.costed_attempts + excluded.costed_attempts,
        provisional_attempts = r.provisional_attempts + excluded.provisional_attempts,
        input_tokens = r.input_tokens + excluded.input_tokens,
        output_tokens = r.output_tokens + excluded.output_tokens,
        cached_tokens = r.cached_tokens + excluded.cached_tokens,
        llm_usd = r.llm_usd + excluded.llm_usd,
        compute_usd = r.compute_usd + excluded.compute_usd,
        (buckets, counts) = (
            select coalesce(array_agg(h.bucket order by h.bucket), '{}'), coalesce(array_agg(h.tasks order by h.bucket), '{}')
            from (
                select b.bucket, sum(b.tasks)::bigint as tasks
                from unnest(r.buckets || excluded.buckets, r.counts || excluded.counts) as b (bucket, tasks)
                group by b.bucket
                having sum(b.tasks) <> 0
            ) as h
        );
end;
$function$;

comment on function forebay._fold_changes is 'Add the noted changes of tasks to the rollups, if p_at_least of them wait; when somebody else is at it, leave it to them.';
