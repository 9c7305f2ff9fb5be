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

-- What a trigger adds up on a task wakes nobody.
create or replace trigger tasks_notify_update
after update on forebay.tasks
referencing old table as old_rows new table as new_rows
for each statement
when (pg_trigger_depth() = 0)
execute function forebay._notify_of_tasks();

create or replace function forebay._note_new_tasks()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note new tasks for the rollups, counted by agent and customer.
begin
    insert into forebay.task_changes (
        starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
        provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
    )
    select n.created_at, n.agent, coalesce(n.customer, ''), n.status, count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{}'
    from new_rows as n
    group by n.created_at, n.agent, coalesce(n.customer, ''), n.status;
    return null;
end;
$function$;

comment on function forebay._note_new_tasks is 'Note new tasks for the rollups, counted by agent and customer.';

create or replace trigger tasks_note_insert
after insert on forebay.tasks
referencing new table as new_rows
for each statement
execute function forebay._note_new_tasks();

create or replace function forebay._note_change()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note for the rollups what changed in a task: what it was counts negative, what it is positive.
--
-- Column by column: the whole row would drag its payload and result along.
declare
    v_old_buckets smallint[] := array[]::smallint[];
    v_new_buckets smallint[] := array[]::smallint[];
begin
    if old.status = 'completed' then
        v_old_buckets := forebay._buckets(old.finished_at - old.created_at, old.run_time, old.confidence);
    end if;
    if new.status = 'completed' then
        v_new_buckets := forebay._buckets(new.finished_at - new.created_at, new.run_time, new.confidence);
    end if;
    if old.status <> new.status or v_old_buckets <> v_new_buckets then
        insert into forebay.task_changes (
            starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
            provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
        )
        values
        (
            old.created_at, old.agent, coalesce(old.customer, ''), old.status, -1, -old.ended_attempts,
            -old.measured_attempts, -old.priced_attempts, -old.costed_attempts, -old.provisional_attempts,
            -old.used_input_tokens, -old.used_output_tokens, -old.used_cached_tokens, -old.cost_usd, -old.compute_usd,
            v_old_buckets
        ),
        (
            new.created_at, new.agent, coalesce(new.customer, ''), new.status, 1, new.ended_attempts,
            new.measured_attempts, new.priced_attempts, new.costed_attempts, new.provisional_attempts,
            new.used_input_tokens, new.used_output_tokens, new.used_cached_tokens, new.cost_usd, new.compute_usd,
            v_new_buckets
        );
    else
        insert into forebay.task_changes (
            starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
            provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
        )
        values (
            new.created_at, new.agent, coalesce(new.customer, ''), new.status, 0, new.ended_attempts - old.ended_attempts,
            new.measured_attempts - old.measured_attempts, new.priced_attempts - old.priced_attempts,
            new.costed_attempts - old.costed_attempts, new.provisional_attempts - old.provisional_attempts,
            new.used_input_tokens - old.used_input_tokens, new.used_output_tokens - old.used_output_tokens,
            new.used_cached_tokens - old.used_cached_tokens, new.cost_usd - old.cost_usd,
            new.compute_usd - old.compute_usd, '{}'
        );
    end if;
    return null;
end;
$function$;

comment on function forebay._note_change is 'Note for the rollups what changed in a task: what it was counts negative, what it is positive.';

create or replace trigger tasks_note_update
after update on forebay.tasks
for each row
when (
    old.status <> new.status
    or old.used_input_tokens <> new.used_input_tokens or old.used_output_tokens <> new.used_output_tokens
    or old.used_cached_tokens <> new.used_cached_tokens or old.cost_usd <> new.cost_usd
    or old.ended_attempts <> new.ended_attempts or old.measured_attempts <> new.measured_attempts
    or old.priced_attempts <> new.priced_attempts or old.costed_attempts <> new.costed_attempts
    or old.provisional_attempts <> new.provisional_attempts or old.compute_usd <> new.compute_usd
    or old.run_time <> new.run_time
)
execute function forebay._note_change();

-- Tasks of before these triggers are in no rollup yet.
do $build$
begin
    if not exists (select from forebay.task_rollups) and not exists (select from forebay.task_changes) then
        perform forebay._rebuild_rollups();
    end if;
end;
$build$;
