create or replace function forebay._lock_tasks(p_task_ids bigint[], p_attempt_ids bigint[] default '{}')
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the tasks by id, then by id their current attempts and those of p_attempt_ids.
--
-- The attempts in a statement of their own: only a snapshot taken after the tasks are held shows which are current.
begin
    perform 1 from forebay.tasks as t
    where t.task_id = any(p_task_ids)
    order by t.task_id
    for no key update;

    perform 1 from forebay.task_attempts as a
    where a.attempt_id = any(
        p_attempt_ids || array(select t.attempt_id from forebay.tasks as t where t.task_id = any(p_task_ids))
    )
    order by a.attempt_id
    for no key update;
end;
$function$;

comment on function forebay._lock_tasks is 'Lock the tasks by id, then by id their current attempts and those of p_attempt_ids.';
