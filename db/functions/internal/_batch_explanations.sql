create or replace function forebay._batch_explanations(p_batch_id bigint, p_task_ids bigint[])
    returns setof forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Why those of the given tasks wait that do and belong to the batch, by id.
--
-- As explain_task says it, but for the reason of a pause: operators write it for each other.
--
-- Errors  22023  p_task_ids is null, or has more than 200 ids
declare
    v_ids bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_now timestamptz := forebay._now();
begin
    perform forebay._require_between(cardinality(v_ids), 'the number of tasks', 0, 200);
    return query
    select
        e.task_id, e.status, e.reason,
        case e.reason
            when 'paused' then concat(
                forebay._pause_words(forebay._get_effective(t.agent, v_now), v_now), '.', forebay._ahead_words(e.ahead)
            )
            else e.explanation
        end,
        e.waiting_until, e.ahead, e.subject, e.unit, e.needs, e.has, e.amount, e.period
    from forebay.tasks as t
    cross join lateral forebay.explain_task(t.task_id) as e
    where t.task_id = any(v_ids) and t.batch_id = p_batch_id and t.status = 'enqueued'
    order by t.task_id;
end;
$function$;

comment on function forebay._batch_explanations is 'Why those of the given tasks wait that do and belong to the batch, by id.';
