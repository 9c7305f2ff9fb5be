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
    ), placed as (
        select
            width.minutes, width.is_by_customer, case when width.is_by_customer then f.customer else '' end as customer,
            date_bin(make_interval(mins => width.minutes), f.starts_at, timestamptz '2000-01-03 00:00:00+00') as starts_at,
            f.agent, f.status, f.tasks, f.ended_attempts, f.measured_attempts, f.priced_attempts, f.costed_attempts,
            f.provisional_attempts, f.input_tokens, f.output_tokens, f.cached_tokens, f.llm_usd, f.compute_usd, f.buckets
        from folded as f
        cross join (
            values (15, false), (60, false), (1440, false), (40320, false), (60, true), (1440, true), (40320, true)
        ) as width (minutes, is_by_customer)
    ), filled as (
        select
            h.minutes, h.is_by_customer, h.customer, h.starts_at, h.agent, h.status,
            array_agg(h.bucket order by h.bucket) as buckets, array_agg(h.tasks order by h.bucket) as counts
        from (
            select
                p.minutes, p.is_by_customer, p.customer, p.starts_at, p.agent, p.status, b.bucket,
                sum(p.tasks)::bigint as tasks
            from placed as p
            cross join lateral unnest(p.buckets) as b (bucket)
            group by p.minutes, p.is_by_customer, p.customer, p.starts_at, p.agent, p.status, b.bucket
        ) as h
        group by h.minutes, h.is_by_customer, h.customer, h.starts_at, h.agent, h.status
    ), summed as (
        select
            p.minutes, p.is_by_customer, p.customer, p.starts_at, p.agent, p.status, sum(p.tasks) as tasks,
            sum(p.ended_attempts) as ended_attempts, sum(p.measured_attempts) as measured_attempts,
            sum(p.priced_attempts) as priced_attempts, sum(p.costed_attempts) as costed_attempts,
            sum(p.provisional_attempts) as provisional_attempts, sum(p.input_tokens) as input_tokens,
            sum(p.output_tokens) as output_tokens, sum(p.cached_tokens) as cached_tokens, sum(p.llm_usd) as llm_usd,
            sum(p.compute_usd) as compute_usd
        from placed as p
        group by p.minutes, p.is_by_customer, p.customer, p.starts_at, p.agent, p.status
    )
    insert into forebay.task_rollups as r (
        minutes, is_by_customer, customer, starts_at, agent, status, tasks, ended_attempts, measured_attempts,
        priced_attempts, costed_attempts, provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd,
        compute_usd, buckets, counts
    )
    select s.*, coalesce(f.buckets, '{}'), coalesce(f.counts, '{}')
    from summed as s
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
