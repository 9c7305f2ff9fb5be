create or replace function forebay._rebuild_rollups()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set jit = off
as $function$
-- Make the rollups from scratch, of the tasks as they are: for tasks that were written while no trigger noted them.
--
-- Writes  forebay.task_changes, forebay.task_rollups
-- Locks   forebay.tasks against writers, then the fold's advisory lock
declare
    v_at_once constant integer := 100000;
    v_first   bigint;
    v_last    bigint;
    v_cells   forebay.task_cell[];
begin
    lock table forebay.tasks in share row exclusive mode;
    perform pg_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0));
    delete from forebay.task_changes;
    delete from forebay.task_rollups;
    select min(t.task_id), max(t.task_id) into v_first, v_last from forebay.tasks as t;
    while v_first <= v_last loop
        select array_agg(cell) into v_cells
        from forebay.tasks as t
        cross join lateral forebay._task_cell(t, 1) as cell
        where t.task_id >= v_first and t.task_id < v_first + v_at_once;
        perform forebay._add_to_rollups(v_cells);
        v_first := v_first + v_at_once;
    end loop;
end;
$function$;

comment on function forebay._rebuild_rollups is 'Make the rollups from scratch, of the tasks as they are: for tasks that were written while no trigger noted them.';
