create or replace function forebay.sweep(p_limit integer default 1000, p_worker text default null)
    returns forebay.sweep_result
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
-- Put the tasks of expired leases and passed deadlines back in line, or fail them; wake what is due.
--
-- It also adds up what waits for quotas, spending and rollups, and removes calls and refusals that count no more.
-- Safe from any number of callers at once. p_worker is only noted for health().
--
-- Returns    how many tasks went back in line, failed, and became due
-- Writes     forebay.tasks, forebay.task_attempts, forebay.dispatchers, and the ledgers of quotas, refusals, spending and
--            rollups
-- Locks      the tasks, by id, then their attempts, then quotas, skipping what somebody else holds
-- Errors     22023  p_limit is not from 1 to 100,000
-- Called by  forebay_worker, forebay_upkeep
declare
    v_swept forebay.sweep_result;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 100000);
    if p_worker is not null then
        perform forebay._require_worker(p_worker);
        perform forebay._seen(p_worker, 'sweep');
    end if;

    v_swept := forebay._end_expired(null, p_limit);
    select coalesce(sum(forebay._wake_due(a.agent, forebay._now(), p_limit)), 0)::integer into v_swept.woken
    from forebay.agents as a;

    delete from forebay.dispatchers as d
    where d.worker in (
        select old.worker from forebay.dispatchers as old
        where greatest(old.last_claim_at, old.last_sweep_at) < forebay._now() - interval '1 day'
        for update skip locked
    );
    delete from forebay.launcher_faults as f
    where (f.worker, f.launcher) in (
        select old.worker, old.launcher from forebay.launcher_faults as old
        where old.seen_at < forebay._now() - interval '1 day'
        for update skip locked
    );
    perform forebay._forget_calls(forebay._now());
    perform forebay._forget_refusals(forebay._now());
    perform forebay._fold_spend();
    perform forebay._fold_changes(5000);
    return v_swept;
end;
$function$;

comment on function forebay.sweep is 'Put the tasks of expired leases and passed deadlines back in line, or fail them; wake what is due.';
