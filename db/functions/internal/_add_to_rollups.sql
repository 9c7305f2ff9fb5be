create or replace function forebay._add_to_rollups(p_cells forebay.task_cell[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set enable_hashjoin = on
    set work_mem = '64MB'
    set jit = off
as $function$
-- Add cells to the rollups of all widths; the caller holds the fold's advisory lock.
--
-- Each width is added up from the one before it, of all customers together and of each: cells get fewer on the way.
--
-- Writes  forebay.task_rollups
declare
    v_origin         constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
    v_widths         constant integer[] := array[15, 60, 1440, 40320];
    v_cells          forebay.task_cell[];
    v_is_by_customer boolean;
    v_minutes        integer;
begin
    foreach v_is_by_customer in array array[false, true] loop
        v_cells := p_cells;
        foreach v_minutes in array case when v_is_by_customer then v_widths[2:] else v_widths end loop
            with cells as materialized (
                select
                    date_bin(make_interval(mins => v_minutes), c.starts_at, v_origin) as slot_at,
                    case when v_is_by_customer then c.customer else '' end as of_customer, c.*
                from unnest(v_cells) as c
            ), sums as (
                select
                    c.slot_at, c.agent, c.of_customer, c.status, sum(c.tasks)::bigint as tasks,
                    sum(c.ended_attempts)::bigint as ended, sum(c.measured_attempts)::bigint as measured,
                    sum(c.priced_attempts)::bigint as priced, sum(c.costed_attempts)::bigint as costed,
                    sum(c.provisional_attempts)::bigint as provisional, sum(c.input_tokens)::bigint as input_tokens,
                    sum(c.output_tokens)::bigint as output_tokens, sum(c.cached_tokens)::bigint as cached_tokens,
                    sum(c.llm_usd) as llm_usd, sum(c.compute_usd) as compute_usd
                from cells as c
                group by c.slot_at, c.agent, c.of_customer, c.status
            ), filled as (
                select
                    h.slot_at, h.agent, h.of_customer, h.status, array_agg(h.bucket order by h.bucket) as buckets,
                    array_agg(h.tasks order by h.bucket) as counts
                from (
                    select c.slot_at, c.agent, c.of_customer, c.status, b.bucket, sum(b.tasks)::bigint as tasks
                    from cells as c
                    cross join lateral unnest(c.buckets, c.counts) as b (bucket, tasks)
                    group by c.slot_at, c.agent, c.of_customer, c.status, b.bucket
                    having sum(b.tasks) <> 0
                ) as h
                group by h.slot_at, h.agent, h.of_customer, h.status
            )
            select array_agg((
                s.slot_at, s.agent, s.of_customer, s.status, s.tasks, s.ended, s.measured, s.priced, s.costed, s.provisional,
                s.input_tokens, s.output_tokens, s.cached_tokens, s.llm_usd, s.compute_usd, coalesce(f.buckets, '{}'),
                coalesce(f.counts, '{}')
            )::forebay.task_cell)
            into v_cells
            from sums as s
            left join filled as f using (slot_at, agent, of_customer, status);
            perform forebay._upsert_rollups(v_cells, v_minutes, v_is_by_customer);
        end loop;
    end loop;
end;
$function$;

comment on function forebay._add_to_rollups is 'Add cells to the rollups of all widths; the caller holds the fold''s advisory lock.';
