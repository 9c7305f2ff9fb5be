create or replace function forebay._lock_attempt(p_attempt_id bigint)
    returns forebay.held_attempt
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
    v_task    forebay.tasks;
    v_attempt forebay.task_attempts;
begin
    v_attempt := forebay._get_attempt(p_attempt_id);
    select t.* into v_task from forebay.tasks as t where t.task_id = v_attempt.task_id for no key update;
    perform 1 from forebay.task_attempts as a
    where a.attempt_id in (p_attempt_id, v_task.attempt_id)
    order by a.attempt_id
    for no key update;
    return (v_task, forebay._get_attempt(p_attempt_id))::forebay.held_attempt;
end;
$function$;

comment on function forebay._lock_attempt is 'Lock an attempt''s task, then the attempt and the task''s current attempt by id; return task and attempt as they are then.';
