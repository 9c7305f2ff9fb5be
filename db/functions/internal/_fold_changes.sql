create or replace function forebay._fold_changes(p_at_least integer)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set enable_hashjoin = on
    set jit = off
as $function$
-- Add the noted changes of tasks to the rollups, if p_at_least of them wait; when somebody else is at it, leave it to them.
--
-- What is deleted is what is added, in one transaction: whoever reads both tables in one statement sees it once. Only the
-- holder of the lock writes here, so it never waits. It takes 100,000 changes at most; the next call takes more.
--
-- Writes  forebay.task_changes, forebay.task_rollups
-- Locks   an advisory lock, without waiting
declare
    v_cells forebay.task_cell[];
begin
    if not pg_try_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0)) then
        return;
    end if;
    perform 1 from forebay.task_changes as c offset greatest(p_at_least, 1) - 1 limit 1;
    if not found then
        return;
    end if;
    with folded as (
        delete from forebay.task_changes as c
        where c.change_id in (select o.change_id from forebay.task_changes as o order by o.change_id limit 100000)
        returning c.*
    )
    select array_agg((
        f.starts_at, f.agent, f.customer, f.status, f.tasks, f.ended_attempts, f.measured_attempts, f.priced_attempts,
        f.costed_attempts, f.provisional_attempts, f.input_tokens, f.output_tokens, f.cached_tokens, f.llm_usd,
        f.compute_usd, f.buckets, array_fill(f.tasks, array[cardinality(f.buckets)])
    )::forebay.task_cell)
    into v_cells
    from folded as f;
    perform forebay._add_to_rollups(v_cells);
end;
$function$;

comment on function forebay._fold_changes is 'Add the noted changes of tasks to the rollups, if p_at_least of them wait; when somebody else is at it, leave it to them.';
