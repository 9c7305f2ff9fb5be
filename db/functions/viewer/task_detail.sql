create or replace function forebay.task_detail(p_task_id bigint)
    returns forebay.task_detail
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Everything about a task but its payload and result: its attempts, their usage, and what people did to it.
--
-- Returns    one row; attempts, usage and audit are arrays of objects, oldest first; as_of is when it was read, by the clock
--            of leases; an attempt's usage_source (agent, trace) is that whose calls count, null without a call
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_viewer
declare
    v_now    timestamptz := forebay._now();
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_detail forebay.task_detail;
begin
    select
        v_task.task_id, v_task.agent, v_task.status, v_task.priority::integer, v_task.batch_id, v_task.customer,
        (select b.owner from forebay.batches as b where b.batch_id = v_task.batch_id),
        v_task.idempotency_key, v_task.estimated_tokens, v_task.max_attempts, v_task.available_at, v_task.locked_by,
        v_task.attempt_id, v_task.attempt_no, v_task.attempt_count, v_task.release_count, v_task.deferral_count,
        v_task.deferred_since, v_task.confidence, v_task.error,
        v_task.reprocess_of,
        array(select t.task_id from forebay.tasks as t where t.reprocess_of = p_task_id order by t.task_id),
        v_task.created_at, v_task.finished_at,
        (
            select coalesce(jsonb_agg(forebay._attempt_document(a) order by a.attempt_no), '[]')
            from forebay.task_attempts as a where a.task_id = p_task_id
        ),
        (
            select coalesce(jsonb_agg(to_jsonb(u) order by a.attempt_no, u.recorded_at, u.call_id), '[]')
            from forebay.task_attempts as a
            inner join forebay.attempt_usage as u on u.attempt_id = a.attempt_id
            where a.task_id = p_task_id
        ),
        (
            select coalesce(jsonb_agg(to_jsonb(l) - '{task_id}'::text[] order by l.audit_id), '[]')
            from forebay.audit_log as l where l.task_id = p_task_id
        ),
        (select b.name from forebay.batches as b where b.batch_id = v_task.batch_id),
        used.input_tokens, used.output_tokens, used.cached_tokens, used.is_known, used.usd, used.is_cost_known,
        case when v_task.costed_attempts > 0 then v_task.compute_usd end, used.run_time, v_now
    into v_detail
    from forebay._task_use(v_task) as used;
    return v_detail;
end;
$function$;

comment on function forebay.task_detail is 'Everything about a task but its payload and result: its attempts, their usage, and what people did to it.';
