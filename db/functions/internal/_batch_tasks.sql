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
-- The tasks of a batch, by id.
--
-- Errors  22023  a status does not exist, or p_limit is not from 1 to 10,000
declare
    v_statuses text[] := p_statuses;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    select b.*
    from forebay.tasks as t
    cross join lateral forebay._batch_task(t) as b
    where t.batch_id = p_batch_id and t.task_id > coalesce(p_after_task_id, 0)
        and (v_statuses is null or t.status = any(v_statuses))
    order by t.task_id
    limit p_limit;
end;
$function$;

comment on function forebay._batch_tasks is 'The tasks of a batch, by id.';
