create or replace function forebay._rebuild_rollups()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set work_mem = '128MB'
as $function$
-- Make the rollups from scratch, of the tasks as they are: for tasks that were written while no trigger noted them.
--
-- Writes  forebay.task_changes, forebay.task_rollups
-- Locks   forebay.tasks against writers, then the fold's advisory lock
declare
    v_week constant interval := interval '7 days';  -- so many at once
    v_from timestamptz;
    v_to   timestamptz;
begin
    lock table forebay.tasks in share row exclusive mode;
    perform pg_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0));
    delete from forebay.task_changes;
    delete from forebay.task_rollups;
    select min(t.created_at), max(t.created_at) into v_from, v_to from forebay.tasks as t;
    while v_from <= v_to loop
        insert into forebay.task_changes (
            starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
            provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
        )
        select
            cell.starts_at, cell.agent, cell.customer, cell.status, cell.tasks, cell.ended_attempts, cell.measured_attempts,
            cell.priced_attempts, cell.costed_attempts, cell.provisional_attempts, cell.input_tokens, cell.output_tokens,
            cell.cached_tokens, cell.llm_usd, cell.compute_usd, cell.buckets
        from forebay.tasks as t
        cross join lateral forebay._task_cell(t, 1) as cell
        where t.created_at >= v_from and t.created_at < v_from + v_week;
        perform forebay._fold_changes(1);
        v_from := v_from + v_week;
    end loop;
end;
$function$;

comment on function forebay._rebuild_rollups is 'Make the rollups from scratch, of the tasks as they are: for tasks that were written while no trigger noted them.';
