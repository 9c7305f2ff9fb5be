-- The triggers of forebay.tasks: they guard and they wake; they decide nothing.

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
declare
    v_is_work boolean;
begin
    perform 1 from new_rows;
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
