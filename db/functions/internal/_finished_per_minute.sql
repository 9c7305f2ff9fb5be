create or replace function forebay._finished_per_minute(p_agent text, p_now timestamptz)
    returns numeric
    language sql
    stable
    security invoker
as $function$
-- How many tasks a minute the agent finished of late: the last 500 of the last 15 minutes, counted since the first of them
-- started.
--
-- Returns  null when there is none
select case when count(*) > 0 then round(
    count(*) * 60 / greatest(1, extract(epoch from p_now - greatest(
        p_now - interval '15 minutes',
        case when count(*) = 500 then min(l.finished_at) else min(l.started_at) end
    ))), 3
) end
from (
    select
        t.finished_at,
        (select max(a.started_at) from forebay.task_attempts as a where a.task_id = t.task_id) as started_at
    from forebay.tasks as t
    where t.agent = p_agent and t.status in ('completed', 'failed')
        and t.finished_at > p_now - interval '15 minutes' and t.finished_at <= p_now
    order by t.finished_at desc
    limit 500
) as l;
$function$;

comment on function forebay._finished_per_minute is
'How many tasks a minute the agent finished of late: the last 500 of the last 15 minutes, counted since the first of them started.';
