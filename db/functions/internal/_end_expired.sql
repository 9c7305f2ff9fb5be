create or replace function forebay._end_expired(p_agent text, p_limit integer)
    returns forebay.sweep_result
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End the attempts that have lost their right to their task, and put the tasks back in line, or fail them.
--
-- A lost lease goes back at once; a passed deadline waits as any failure does. An attempt was counted when it was claimed,
-- so a task that kills its worker runs out of attempts. p_agent null means every agent.
--
-- Writes  forebay.tasks, forebay.task_attempts
-- Locks   the tasks, by id, then their attempts, skipping what somebody else holds
declare
    v_limits   forebay.installation := forebay._limits();
    v_now      timestamptz := forebay._now();
    v_tasks    bigint[];
    v_attempts bigint[];
    v_swept    forebay.sweep_result := (0, 0, 0)::forebay.sweep_result;
begin
    select array_agg(a.task_id) into v_tasks
    from forebay.task_attempts as a
    where a.finished_at is null and (p_agent is null or a.agent = p_agent)
        and forebay._is_expired(a, v_now, v_limits.adoption_grace, v_limits.report_grace);
    if v_tasks is null then
        return v_swept;
    end if;

    select array_agg(locked.task_id) into v_tasks from (
        select t.task_id
        from forebay.tasks as t
        where t.task_id = any(v_tasks) and t.status = 'processing'
        order by t.task_id
        limit p_limit
        for no key update skip locked
    ) as locked;
    select array_agg(locked.attempt_id) into v_attempts from (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_tasks))
            and a.finished_at is null and forebay._is_expired(a, v_now, v_limits.adoption_grace, v_limits.report_grace)
        order by a.attempt_id
        for no key update skip locked
    ) as locked;

    with ended as (
        update forebay.task_attempts as a
        set status = case when a.deadline_at <= v_now then 'failed' else 'lost' end,
            error = forebay._expiry_error(a, v_now), finished_at = greatest(v_now, a.started_at),
            is_stop_pending = a.run_ended_at is null
        where a.attempt_id = any(v_attempts)
        returning a.*
    ), verdicts as (
        select
            e.task_id, e.error, e.status = 'lost' as is_lost,
            forebay._may_retry(g, t.attempt_count, t.max_attempts) and (e.status = 'failed' or g.on_lost_lease = 'retry')
                as may_retry,
            forebay._backoff(g.backoff_base, g.backoff_max, t.attempt_count) as backoff
        from ended as e
        inner join forebay.agents as g on g.agent = e.agent
        inner join forebay.tasks as t on t.task_id = e.task_id
    ), moved as (
        update forebay.tasks as t
        set status = case when v.may_retry then 'enqueued' else 'failed' end,
            error = v.error,
            attempt_id = null, locked_by = null,
            finished_at = case when not v.may_retry then greatest(v_now, t.created_at) end,
            is_ready = v.is_lost,
            available_at = case when not v.may_retry then t.available_at when v.is_lost then v_now else v_now + v.backoff end
        from verdicts as v
        where t.task_id = v.task_id
        returning t.status
    )
    select (count(*) filter (where m.status = 'enqueued'))::integer, (count(*) filter (where m.status = 'failed'))::integer, 0
    into v_swept
    from moved as m;
    return v_swept;
end;
$function$;

comment on function forebay._end_expired is 'End the attempts that have lost their right to their task, and put the tasks back in line, or fail them.';
