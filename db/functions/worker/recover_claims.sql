create or replace function forebay.recover_claims(
    p_worker    text,
    p_known_ids bigint[],
    p_within    interval,
    p_launchers text[] default null
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Answer once more what dequeue gave p_worker within p_within and it does not know of: the answer was lost with its line.
--
-- Ask before the next claim, with every attempt that the worker has in hand, and again for as long as the lost call may have
-- gone on in the server. Without it these attempts would be lost with their leases. A process whose threads claim for one
-- launcher each names it: what another thread has just claimed is not lost.
--
-- Returns    one row an attempt whose lease is held and that has no run, by id
-- Errors     22023  p_worker is no name, p_known_ids is null, p_within is null or negative, or p_launchers is wrong
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_launchers text[] := p_launchers;
    v_known     bigint[] := forebay._require_ids(p_known_ids, 'p_known_ids');
    v_now       timestamptz := forebay._now();
begin
    perform forebay._require_worker(p_worker);
    if p_within is null then
        raise exception 'p_within must not be null' using errcode = '22023';
    end if;
    perform forebay._require_delay(p_within, 'p_within');
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();

    return query
    select
        t.task_id, a.attempt_id, a.attempt_no, a.agent, a.launcher, coalesce(a.job_id, g.job_id), g.entry_point, t.payload,
        t.priority::integer, t.batch_id, t.customer, a.estimated_tokens, a.launch_token, a.lease_expires_at, a.deadline_at
    from forebay.task_attempts as a
    inner join forebay.tasks as t on t.task_id = a.task_id and t.attempt_id = a.attempt_id
    inner join forebay.agents as g on g.agent = a.agent
    where a.finished_at is null and a.worker = p_worker and a.run_id is null and a.attempt_id <> all(v_known)
        and a.started_at >= v_now - p_within and a.lease_expires_at > v_now
        and (v_launchers is null or a.launcher = any(v_launchers))
    order by a.attempt_id;
end;
$function$;

comment on function forebay.recover_claims is 'Answer once more what dequeue gave p_worker within p_within and it does not know of: the answer was lost with its line.';
