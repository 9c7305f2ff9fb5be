create or replace function forebay._batch_tasks(
    p_batch_id      bigint,
    p_statuses      text[],
    p_after_task_id bigint,
    p_limit         integer
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks of a batch, by id; of a result only its fields, as far as they are an object of at most 4 kB.
--
-- Errors  22023  a status does not exist, or p_limit is not from 1 to 10,000
declare
    v_statuses text[] := p_statuses;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    select
        t.task_id, t.agent, t.status, t.priority::integer, t.payload, t.attempt_count, a.progress_done, a.progress_total,
        t.confidence, small.fields, t.error, t.reprocess_of, t.used_input_tokens, t.used_output_tokens, t.used_cached_tokens,
        forebay._known_usd(t.cost_usd, t.priced_attempts), t.priced_attempts = t.ended_attempts, t.created_at,
        a.started_at, t.finished_at
    from forebay.tasks as t
    left join forebay.task_attempts as a on a.attempt_id = t.attempt_id
    left join lateral (select t.result -> 'fields' as fields) as small
        on jsonb_typeof(small.fields) = 'object' and octet_length(small.fields::text) <= 4096
    where t.batch_id = p_batch_id and t.task_id > coalesce(p_after_task_id, 0)
        and (v_statuses is null or t.status = any(v_statuses))
    order by t.task_id
    limit p_limit;
end;
$function$;

comment on function forebay._batch_tasks is 'The tasks of a batch, by id; of a result only its fields, as far as they are an object of at most 4 kB.';
