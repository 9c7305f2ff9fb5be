create or replace function forebay._count_turns(p_task forebay.tasks)
    returns bigint
    language sql
    stable
    security invoker
as $function$
-- About how many tasks start before this one where customers are served in turns: those of its customer before it, and as
-- many of each other one.
--
-- It looks at the first 10,000 tasks in line.
select coalesce(own.place + sum(least(others.tasks, own.place + 1)), own.place)
from (
    select count(*) as place
    from (
        select 1 from forebay.tasks as t
        where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready
            and t.customer is not distinct from p_task.customer
            and (-t.priority, t.created_at, t.task_id) < (-p_task.priority, p_task.created_at, p_task.task_id)
        limit 10000
    ) as before
) as own
left join (
    select line.customer, count(*) as tasks
    from (
        select t.customer from forebay.tasks as t
        where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready
            and t.customer is distinct from p_task.customer
        order by t.priority desc, t.created_at, t.task_id
        limit 10000
    ) as line
    group by line.customer
) as others on true
group by own.place;
$function$;

comment on function forebay._count_turns is
'About how many tasks start before this one where customers are served in turns: those of its customer before it, and as many of each other one.';
