create or replace function forebay._open_tasks(
    p_batch_id   bigint,
    p_agent      forebay.agents,
    out waiting  bigint,
    out running  bigint,
    out estimate bigint,
    out due_at   timestamptz
)
    language sql
    stable
    security invoker
as $function$
-- How many tasks of the batch wait for the agent and run there; of those that wait, their usual estimate, null where none
-- has one, and when the last of them is due.
select
    count(*) filter (where t.status = 'enqueued'), count(*) filter (where t.status = 'processing'),
    case when count(t.estimated_tokens) filter (where t.status = 'enqueued') > 0 then
        avg(coalesce(t.estimated_tokens, p_agent.default_estimated_tokens)) filter (where t.status = 'enqueued')
    end::bigint,
    max(t.available_at) filter (where t.status = 'enqueued')
from forebay.tasks as t
where t.batch_id = p_batch_id and t.agent = p_agent.agent and t.status in ('enqueued', 'processing');
$function$;

comment on function forebay._open_tasks is
'How many tasks of the batch wait for the agent and run there; of those that wait, their usual estimate, null where none has one, and when the last of them is due.';
