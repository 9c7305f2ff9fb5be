create or replace function forebay._count_ahead(p_task forebay.tasks, p_now timestamptz)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks stand in line before this one, those due by p_now included; counted up to 10,000 of a kind.
begin
    return (
        select
            (
                select count(*) from (
                    select 1 from forebay.tasks as t
                    where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready and t.priority > p_task.priority
                    limit 10000
                ) as more_urgent
            ) + (
                select count(*) from (
                    select 1 from forebay.tasks as t
                    where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready and t.priority = p_task.priority
                        and (t.created_at, t.task_id) < (p_task.created_at, p_task.task_id)
                    limit 10000
                ) as earlier
            ) + (
                select count(*) from (
                    select 1 from forebay.tasks as t
                    where t.agent = p_task.agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
                        and (-t.priority, t.created_at, t.task_id) < (-p_task.priority, p_task.created_at, p_task.task_id)
                    limit 10000
                ) as due
            )
    );
end;
$function$;

comment on function forebay._count_ahead is 'How many of the agent''s tasks stand in line before this one, those due by p_now included; counted up to 10,000 of a kind.';
