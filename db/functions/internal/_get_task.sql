create or replace function forebay._get_task(p_task_id bigint)
    returns forebay.tasks
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The task of that id.
--
-- Errors  22023  p_task_id is null
--         QF303  there is none
declare
    v_task forebay.tasks;
begin
    if p_task_id is null then
        raise exception 'p_task_id must not be null' using errcode = '22023';
    end if;
    select t.* into v_task from forebay.tasks as t where t.task_id = p_task_id;
    if not found then
        raise exception 'task % does not exist', p_task_id
            using errcode = 'QF303', hint = 'forebay.list_tasks() has the ids.';
    end if;
    return v_task;
end;
$function$;

comment on function forebay._get_task is 'The task of that id.';
