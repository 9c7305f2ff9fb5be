create or replace function forebay._upsert_rollups(
    p_cells          forebay.task_cell[],
    p_minutes        integer,
    p_is_by_customer boolean
)
    returns void
    language sql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add cells, one a slot, agent, customer and status, to the rollups of a width; the caller holds the fold's advisory lock.
--
-- Writes  forebay.task_rollups
insert into forebay.task_rollups as r (
    minutes, is_by_customer, customer, starts_at, agent, status, tasks, ended_attempts, measured_attempts,
    priced_attempts, costed_attempts, provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd,
    compute_usd, buckets, counts
)
select
    p_minutes, p_is_by_customer, c.customer, c.starts_at, c.agent, c.status, c.tasks, c.ended_attempts,
    c.measured_attempts, c.priced_attempts, c.costed_attempts, c.provisional_attempts, c.input_tokens, c.output_tokens,
    c.cached_tokens, c.llm_usd, c.compute_usd, c.buckets, c.counts
from unnest(p_cells) as c
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
$function$;

comment on function forebay._upsert_rollups is 'Add cells, one a slot, agent, customer and status, to the rollups of a width; the caller holds the fold''s advisory lock.';
