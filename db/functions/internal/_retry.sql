create or replace function forebay._retry(p_task_ids bigint[], p_priority integer, p_reason text, p_actor text)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed and cancelled tasks back in line. Their attempts start afresh, their history stays.
--
-- Returns  one row a distinct id, by id; effect is retried, none (nothing to retry) or unknown
-- Writes   forebay.tasks, forebay.uploads, forebay.audit_log
-- Locks    the lines of the tasks' agents against a change of their definition, then the tasks, by id, and their uploads
-- Errors   22023  p_task_ids is null, or p_priority is no smallint
declare
    v_ids     bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_retried bigint[];
    v_now     timestamptz;
begin
    if p_priority is not null then
        perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    end if;
    perform forebay._join_line(array(select t.agent from forebay.tasks as t where t.task_id = any(v_ids)));
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    with retried as (
        update forebay.tasks as t
        set status = 'enqueued', priority = coalesce(p_priority, t.priority), finished_at = null, error = null,
            attempt_count = 0, release_count = 0, deferral_count = 0, deferred_since = null,
            available_at = v_now, is_ready = true,
            is_shared = (select a.is_fair_by_customer from forebay.agents as a where a.agent = t.agent)
        where t.task_id = any(v_ids) and t.status in ('failed', 'cancelled')
        returning t.task_id
    )
    select coalesce(array_agg(r.task_id), '{}') into v_retried from retried as r;
    perform forebay._reopen_uploads(v_retried);
    perform forebay._audit('retry', v_retried, null, p_reason, p_actor);

    return query select * from forebay._effects(v_ids, v_retried, 'retried');
end;
$function$;

comment on function forebay._retry is 'Put failed and cancelled tasks back in line. Their attempts start afresh, their history stays.';
