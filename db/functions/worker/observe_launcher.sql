create or replace function forebay.observe_launcher(
    p_worker   text,
    p_launcher text,
    p_fault    text default null,
    p_place    text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Note why p_worker cannot start runs with a launcher at this moment, for explain_task and health; null: it can.
--
-- A fault is to be told again within two minutes, else it counts no more. p_place names where its runs are, as a workspace:
-- p_worker then keeps to attempts of there; what it adopted before it knew is let go of. Null leaves that as it is. Attempts
-- that p_worker claims keep its first line as their place; its other lines are names that the same place went by.
--
-- Writes     forebay.launcher_faults, forebay.dispatchers.places, forebay.task_attempts.lease_expires_at
-- Locks      the attempts that are let go of, by id
-- Errors     22023  p_worker is no name, p_launcher is none, p_fault is empty, or p_place is empty or too long
-- Called by  forebay_worker
declare
    v_now timestamptz := forebay._now();
begin
    perform forebay._require_worker(p_worker);
    if p_launcher is null or p_fault = '' then
        raise exception 'p_launcher must not be null, and p_fault not empty' using errcode = '22023';
    end if;
    perform forebay._require_launchers(array[p_launcher]);
    if p_place is not null then
        perform forebay._settle_at(p_worker, p_launcher, p_place);
    end if;
    if p_fault is null then
        delete from forebay.launcher_faults as f where f.worker = p_worker and f.launcher = p_launcher;
        return;
    end if;

    insert into forebay.launcher_faults as f (worker, launcher, reason, began_at, seen_at)
    values (p_worker, p_launcher, left(p_fault, 2000), v_now, v_now)
    on conflict (worker, launcher) do update set
        reason = excluded.reason,
        began_at = case when forebay._is_current(f, v_now) then f.began_at else excluded.began_at end,
        seen_at = excluded.seen_at;
end;
$function$;

comment on function forebay.observe_launcher is 'Note why p_worker cannot start runs with a launcher at this moment, for explain_task and health; null: it can.';
