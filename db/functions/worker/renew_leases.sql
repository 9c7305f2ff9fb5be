create or replace function forebay.renew_leases(p_worker text, p_attempt_ids bigint[])
    returns setof forebay.renewed_lease
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Extend the leases that p_worker still holds, and say what became of the others.
--
-- renewed: go on. cancel_requested: stop, then report or release. lost: the lease ran out, the deadline passed, or it was
-- never p_worker's; stop, though a success reported late still counts. finished: nothing is left to do.
--
-- Returns    one row a distinct id, in no set order
-- Writes     forebay.task_attempts.lease_expires_at, up to the deadline
-- Locks      the attempts, by id
-- Errors     22023  p_worker is no name, or p_attempt_ids is null
-- Called by  forebay_worker
declare
    v_worker text := p_worker;
    v_ids    bigint[] := forebay._require_ids(p_attempt_ids, 'p_attempt_ids');
    v_now    timestamptz;
begin
    perform forebay._require_worker(p_worker);
    perform 1 from forebay.task_attempts as a where a.attempt_id = any(v_ids) order by a.attempt_id for no key update;
    v_now := forebay._now();

    update forebay.task_attempts as a
    set lease_expires_at = least(v_now + g.lease, a.deadline_at)
    from forebay.agents as g
    where a.attempt_id = any(v_ids) and g.agent = a.agent
        and a.worker = v_worker and a.finished_at is null and a.lease_expires_at > v_now and a.deadline_at > v_now;

    return query
    select
        ids.attempt_id,
        case
            when a.attempt_id is null or a.worker <> v_worker then 'lost'
            when a.finished_at is null then case when a.lease_expires_at > v_now then 'renewed' else 'lost' end
            when a.status in ('cancelled', 'superseded') and a.is_stop_pending then 'cancel_requested'
            when a.status = 'lost' or a.status = 'failed' and a.reported_at is null then 'lost'
            else 'finished'
        end,
        a.lease_expires_at
    from unnest(v_ids) as ids (attempt_id)
    left join forebay.task_attempts as a on a.attempt_id = ids.attempt_id;
end;
$function$;

comment on function forebay.renew_leases is 'Extend the leases that p_worker still holds, and say what became of the others.';
