create or replace function forebay._lock_attempt(
    p_attempt_id bigint,
    out task     forebay.tasks,
    out attempt  forebay.task_attempts
)
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock an attempt's task, then the attempt and the task's current attempt by id; return task and attempt as they are then.
--
-- Errors  22023  p_attempt_id is null
--         QF304  there is no such attempt
declare
    v_task_id bigint;
begin
    if p_attempt_id is null then
        raise exception 'p_attempt_id must not be null' using errcode = '22023';
    end if;
    select a.task_id into v_task_id from forebay.task_attempts as a where a.attempt_id = p_attempt_id;
    if not found then
        raise exception 'attempt % does not exist', p_attempt_id using errcode = 'QF304';
    end if;

    select t.* into task from forebay.tasks as t where t.task_id = v_task_id for no key update;
    perform 1 from forebay.task_attempts as a
    where a.attempt_id in (p_attempt_id, task.attempt_id)
    order by a.attempt_id
    for no key update;
    select a.* into attempt from forebay.task_attempts as a where a.attempt_id = p_attempt_id;
end;
$function$;

comment on function forebay._lock_attempt is 'Lock an attempt''s task, then the attempt and the task''s current attempt by id; return task and attempt as they are then.';
