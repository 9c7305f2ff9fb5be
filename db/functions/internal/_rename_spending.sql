create or replace function forebay._rename_spending(p_customer text, p_alias text)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Move what is added up for a customer to another name, on top of what is there; the caller holds the locks of both folds.
--
-- Returns  how many rows were moved
-- Writes   forebay.daily_spend, forebay.task_rollups
declare
    v_minutes integer;
    v_cells   forebay.task_cell[];
    v_rows    integer;
begin
    with moved as (
        delete from forebay.daily_spend as d where d.customer = p_customer and d.customer <> '' returning d.*
    )
    insert into forebay.daily_spend as d (day, agent, customer, usd)
    select m.day, m.agent, p_alias, m.usd from moved as m
    on conflict (day, agent, customer) do update set usd = d.usd + excluded.usd;
    get diagnostics v_rows = row_count;

    foreach v_minutes in array array[60, 1440, 40320] loop
        with moved as (
            delete from forebay.task_rollups as r
            where r.minutes = v_minutes and r.is_by_customer and r.customer = p_customer
            returning r.*
        )
        select array_agg((
            m.starts_at, m.agent, p_alias, m.status, m.tasks, m.ended_attempts, m.measured_attempts, m.priced_attempts,
            m.costed_attempts, m.provisional_attempts, m.input_tokens, m.output_tokens, m.cached_tokens, m.llm_usd,
            m.compute_usd, m.buckets, m.counts
        )::forebay.task_cell)
        into v_cells
        from moved as m;
        perform forebay._upsert_rollups(v_cells, v_minutes, true);
        v_rows := v_rows + coalesce(cardinality(v_cells), 0);
    end loop;
    return v_rows;
end;
$function$;

comment on function forebay._rename_spending is
'Move what is added up for a customer to another name, on top of what is there; the caller holds the locks of both folds.';
