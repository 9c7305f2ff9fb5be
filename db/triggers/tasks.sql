-- The triggers of forebay.tasks: they guard, count and wake; they decide nothing.

create or replace function forebay._refuse_transition()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse a change of status that the state machine does not have; the triggers' conditions say which.
--
-- Errors  QF901  always
begin
    raise exception 'task % cannot go from % to %', new.task_id, case tg_op when 'UPDATE' then old.status else 'nothing' end, new.status
        using errcode = 'QF901', hint = 'Only the functions of schema forebay change tasks.';
end;
$function$;

comment on function forebay._refuse_transition is 'Refuse a change of status that the state machine does not have; the triggers'' conditions say which.';

create or replace trigger tasks_refuse_insert
before insert on forebay.tasks
for each row
when (new.status <> 'enqueued')
execute function forebay._refuse_transition();

create or replace trigger tasks_refuse_update
before update on forebay.tasks
for each row
when (
    old.status <> new.status
    and (old.status, new.status) not in (
        ('enqueued', 'processing'), ('enqueued', 'completed'), ('enqueued', 'cancelled'),
        ('processing', 'completed'), ('processing', 'failed'), ('processing', 'enqueued'), ('processing', 'cancelled'),
        ('failed', 'enqueued'), ('cancelled', 'enqueued')
    )
)
execute function forebay._refuse_transition();

create or replace function forebay._notify_of_tasks()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Wake dispatchers when something can start, dashboards when anything changed, nobody when no row did.
--
-- What a task used, which its attempts add to it, wakes nobody.
declare
    v_is_work boolean;
begin
    if tg_op = 'INSERT' then
        perform 1 from new_rows;
    else
        perform 1 from old_rows as o
        inner join new_rows as n on n.task_id = o.task_id
        where (o.status, o.priority, o.is_ready, o.is_shared, o.available_at, o.attempt_id, o.locked_by)
            is distinct from (n.status, n.priority, n.is_ready, n.is_shared, n.available_at, n.attempt_id, n.locked_by);
    end if;
    if not found then
        return null;
    end if;
    v_is_work := exists (select from new_rows as n where n.status = 'enqueued' and n.is_ready);
    if tg_op = 'UPDATE' and not v_is_work then
        v_is_work := exists (select from old_rows as o where o.status = 'processing');
    end if;
    perform forebay._ask_wakeup(v_is_work);
    return null;
end;
$function$;

comment on function forebay._notify_of_tasks is 'Wake dispatchers when something can start, dashboards when anything changed, nobody when no row did.';

create or replace trigger tasks_notify_insert
after insert on forebay.tasks
referencing new table as new_rows
for each statement
execute function forebay._notify_of_tasks();

create or replace trigger tasks_notify_update
after update on forebay.tasks
referencing old table as old_rows new table as new_rows
for each statement
execute function forebay._notify_of_tasks();

create or replace function forebay._note_changes()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note what changed in the counts of tasks, for the rollups: old rows count negative, new ones positive.
declare
    v_cells forebay.task_cell[] := '{}';
begin
    if tg_op <> 'INSERT' then
        v_cells := array(
            select cell from old_rows as o cross join lateral forebay._task_cell(o::forebay.tasks, -1) as cell
        );
    end if;
    if tg_op <> 'DELETE' then
        v_cells := v_cells || array(
            select cell from new_rows as n cross join lateral forebay._task_cell(n::forebay.tasks, 1) as cell
        );
    end if;
    insert into forebay.task_changes (
        starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
        provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
    )
    select
        c.starts_at, c.agent, c.customer, c.status, sum(c.tasks), sum(c.ended_attempts), sum(c.measured_attempts),
        sum(c.priced_attempts), sum(c.costed_attempts), sum(c.provisional_attempts), sum(c.input_tokens),
        sum(c.output_tokens), sum(c.cached_tokens), sum(c.llm_usd), sum(c.compute_usd), c.buckets
    from unnest(v_cells) as c
    group by c.starts_at, c.agent, c.customer, c.status, c.buckets
    having (
        sum(c.tasks), sum(c.ended_attempts), sum(c.measured_attempts), sum(c.priced_attempts), sum(c.costed_attempts),
        sum(c.provisional_attempts), sum(c.input_tokens), sum(c.output_tokens), sum(c.cached_tokens), sum(c.llm_usd),
        sum(c.compute_usd)
    ) <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return null;
end;
$function$;

comment on function forebay._note_changes is 'Note what changed in the counts of tasks, for the rollups: old rows count negative, new ones positive.';

create or replace trigger tasks_note_insert
after insert on forebay.tasks
referencing new table as new_rows
for each statement
execute function forebay._note_changes();

create or replace trigger tasks_note_update
after update on forebay.tasks
referencing old table as old_rows new table as new_rows
for each statement
execute function forebay._note_changes();

create or replace trigger tasks_note_delete
after delete on forebay.tasks
referencing old table as old_rows
for each statement
execute function forebay._note_changes();

-- Tasks of before these triggers are in no rollup yet.
do $build$
begin
    if not exists (select from forebay.task_rollups) and not exists (select from forebay.task_changes) then
        perform forebay._rebuild_rollups();
    end if;
end;
$build$;
