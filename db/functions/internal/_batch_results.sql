create or replace function forebay._batch_results(
    p_batch_id      bigint,
    p_task_ids      bigint[],
    p_after_task_id bigint,
    p_limit         integer
)
    returns setof forebay.batch_result
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks of a batch with their payloads and results, by id; p_task_ids null: all of them.
--
-- Errors  22023  p_limit is not from 1 to 1,000
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    return query
    select
        t.task_id, t.agent, t.status, t.payload, t.result, t.confidence, t.error, t.used_input_tokens, t.used_output_tokens,
        t.used_cached_tokens, forebay._known_usd(t.cost_usd, t.priced_attempts), t.priced_attempts = t.ended_attempts,
        t.created_at, t.finished_at
    from forebay.tasks as t
    where t.batch_id = p_batch_id and t.task_id > coalesce(p_after_task_id, 0)
        and (p_task_ids is null or t.task_id = any(p_task_ids))
    order by t.task_id
    limit p_limit;
end;
$function$;

comment on function forebay._batch_results is 'The tasks of a batch with their payloads and results, by id; p_task_ids null: all of them.';
