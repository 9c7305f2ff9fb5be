create or replace function forebay._task_use(
    p_task            forebay.tasks,
    out input_tokens  bigint,
    out output_tokens bigint,
    out cached_tokens bigint,
    out is_known      boolean,
    out usd           numeric,
    out is_cost_known boolean,
    out run_time      interval
)
    language sql
    stable
    security invoker
as $function$
-- What all attempts of a task have used as far as it was reported: null where nothing is known, known when every end is.
select
    case when p_task.measured_attempts > 0 or p_task.used_input_tokens > 0 then p_task.used_input_tokens end,
    case when p_task.measured_attempts > 0 or p_task.used_output_tokens > 0 then p_task.used_output_tokens end,
    case when p_task.measured_attempts > 0 or p_task.used_cached_tokens > 0 then p_task.used_cached_tokens end,
    p_task.ended_attempts > 0 and p_task.measured_attempts = p_task.ended_attempts,
    forebay._known_usd(p_task.cost_usd, p_task.priced_attempts),
    p_task.ended_attempts > 0 and p_task.priced_attempts = p_task.ended_attempts,
    case when p_task.ended_attempts > 0 then p_task.run_time end;
$function$;

comment on function forebay._task_use is
'What all attempts of a task have used as far as it was reported: null where nothing is known, known when every end is.';
