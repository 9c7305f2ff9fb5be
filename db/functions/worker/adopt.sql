create or replace function forebay.adopt(p_worker text, p_launchers text[], p_limit integer default 100)
    returns setof forebay.adopted_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take over attempts whose driver let the lease run out while their run may live on outside of it.
--
-- Attempt and launch token stay. What runs where p_worker has no launcher, as it said, is left to whoever has. Without a run id: launch again with the same token, and get the same run. With one: ask
-- its state and pass it to observe_run.
--
-- Returns    one row an attempt, by id; of more than p_limit those that expired first
-- Writes     forebay.task_attempts.worker, lease_expires_at; forebay.tasks.locked_by
-- Locks      the tasks, then their attempts, skipping what somebody else holds
-- Errors     22023  p_worker, p_launchers or p_limit is wrong
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_launchers text[] := p_launchers;
    v_tasks     bigint[];
    v_attempts  bigint[];
    v_now       timestamptz;
    v_places    jsonb := forebay._places(p_worker);
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if p_launchers is null then
        raise exception 'p_launchers must not be null' using errcode = '22023';
    end if;
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();
    v_now := forebay._now();

    select array_agg(locked.task_id) into v_tasks from (
        select t.task_id
        from forebay.tasks as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id and a.attempt_id = t.attempt_id
        where a.finished_at is null and a.launcher = any(v_launchers) and forebay._is_external(a.launcher)
            and forebay._is_known_as(a.place, v_places ->> a.launcher)
            and a.lease_expires_at <= v_now and a.deadline_at > v_now
        order by a.lease_expires_at, t.task_id
        limit p_limit
        for no key update of t skip locked
    ) as locked;
    select array_agg(locked.attempt_id) into v_attempts from (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_tasks))
            and a.finished_at is null and a.lease_expires_at <= v_now and a.deadline_at > v_now
        order by a.attempt_id
        for no key update skip locked
    ) as locked;

    return query
    with adopted as (
        update forebay.task_attempts as a
        set worker = p_worker, lease_expires_at = least(v_now + g.lease, a.deadline_at)
        from forebay.agents as g
        where a.attempt_id = any(v_attempts) and g.agent = a.agent
        returning a.*, coalesce(a.job_id, g.job_id) as job, g.entry_point
    ), marked as (
        update forebay.tasks as t set locked_by = p_worker
        from adopted as a
        where t.task_id = a.task_id
        returning t.*
    )
    select
        a.task_id, a.attempt_id, a.attempt_no, a.agent, a.launcher, a.job, a.entry_point, t.payload,
        t.priority::integer, t.batch_id, t.customer, a.estimated_tokens, a.launch_token, a.lease_expires_at, a.deadline_at,
        a.run_id
    from adopted as a
    inner join marked as t on t.attempt_id = a.attempt_id
    order by a.attempt_id;
end;
$function$;

comment on function forebay.adopt is 'Take over attempts whose driver let the lease run out while their run may live on outside of it.';
