create or replace function forebay._task_cell(p_task forebay.tasks, p_sign integer)
    returns setof forebay.task_cell
    language sql
    immutable
    security invoker
as $function$
-- What a task adds to the counts of its kind (p_sign 1), or takes away from them (-1).
select
    p_task.created_at, p_task.agent, coalesce(p_task.customer, ''), p_task.status, p_sign::bigint,
    p_sign::bigint * p_task.ended_attempts, p_sign::bigint * p_task.measured_attempts,
    p_sign::bigint * p_task.priced_attempts, p_sign::bigint * p_task.costed_attempts,
    p_sign::bigint * p_task.provisional_attempts,
    p_sign * p_task.used_input_tokens, p_sign * p_task.used_output_tokens, p_sign * p_task.used_cached_tokens,
    p_sign * p_task.cost_usd, p_sign * p_task.compute_usd, b.buckets, array_fill(p_sign::bigint, array[cardinality(b.buckets)])
from (
    select case when p_task.status = 'completed'
        then forebay._buckets(p_task.finished_at - p_task.created_at, p_task.run_time, p_task.confidence)
        else '{}'
    end as buckets
) as b;
$function$;

comment on function forebay._task_cell is 'What a task adds to the counts of its kind (p_sign 1), or takes away from them (-1).';
