create or replace function forebay._batch_task(p_task forebay.tasks)
    returns setof forebay.batch_task
    language sql
    stable
    rows 1
    security invoker
as $function$
-- One task as a batch shows it; of its result only the fields, as far as they are an object of at most 4 kB.
select
    p_task.task_id, p_task.agent, p_task.status, p_task.priority::integer, p_task.payload, p_task.attempt_count,
    a.progress_done, a.progress_total, p_task.confidence, small.fields, p_task.error, p_task.reprocess_of,
    p_task.used_input_tokens, p_task.used_output_tokens, p_task.used_cached_tokens,
    forebay._known_usd(p_task.cost_usd, p_task.priced_attempts), p_task.priced_attempts = p_task.ended_attempts,
    p_task.created_at, a.started_at, p_task.finished_at
from (select p_task.result -> 'fields' as fields) as found
left join forebay.task_attempts as a on a.attempt_id = p_task.attempt_id
left join lateral (select found.fields) as small
    on jsonb_typeof(small.fields) = 'object' and octet_length(small.fields::text) <= 4096;
$function$;

comment on function forebay._batch_task is
'One task as a batch shows it; of its result only the fields, as far as they are an object of at most 4 kB.';
