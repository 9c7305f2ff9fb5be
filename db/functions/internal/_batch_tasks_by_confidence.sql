create or replace function forebay._batch_tasks_by_confidence(
    p_batch_id      bigint,
    p_after_task_id bigint,
    p_limit         integer
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The completed tasks of a batch, the least sure first, those without a confidence last; then by id.
--
-- Errors  22023  p_limit is not from 1 to 10,000
--         QF303  p_after_task_id is no completed task of the batch
declare
    v_after forebay.tasks;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if p_after_task_id is not null then
        v_after := forebay._get_task(p_after_task_id);
        if v_after.batch_id is distinct from p_batch_id or v_after.status <> 'completed' then
            raise exception 'task % is no completed task of batch %', p_after_task_id, p_batch_id
                using errcode = 'QF303', hint = 'Begin anew, without p_after_task_id.';
        end if;
    end if;
    return query
    select b.*
    from forebay.tasks as t
    cross join lateral forebay._batch_task(t) as b
    where t.batch_id = p_batch_id and t.status = 'completed' and (
        v_after.task_id is null
        or (coalesce(t.confidence, 2), t.task_id) > (coalesce(v_after.confidence, 2), v_after.task_id)
    )
    order by coalesce(t.confidence, 2), t.task_id
    limit p_limit;
end;
$function$;

comment on function forebay._batch_tasks_by_confidence is
'The completed tasks of a batch, the least sure first, those without a confidence last; then by id.';
