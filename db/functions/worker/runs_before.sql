create or replace function forebay.runs_before(p_worker text, p_attempt_ids bigint[])
    returns setof forebay.run_to_cancel
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the runs of earlier attempts of the same tasks that were not seen to end yet: to be cancelled before a new launch.
--
-- Whoever took them from runs_to_cancel a moment ago may have died before it asked for their end, so they are named again.
-- Runs elsewhere, and those in a copy that nobody has opened, are not.
--
-- Returns    one row a run, by attempt; run_id null: not recorded
-- Writes     forebay.task_attempts.stop_asked_at
-- Locks      the earlier attempts, skipping what somebody else holds, which is named too
-- Errors     22023  p_worker is no name, or p_attempt_ids is null
-- Called by  forebay_worker
declare
    v_ids      bigint[] := forebay._require_ids(p_attempt_ids, 'p_attempt_ids');
    v_places   jsonb := forebay._places(p_worker);
    v_attempts bigint[];
begin
    perform forebay._require_worker(p_worker);
    if not forebay._may_dispatch() then
        return;
    end if;
    select array_agg(a.attempt_id) into v_attempts
    from forebay.task_attempts as n
    inner join forebay.task_attempts as a on a.task_id = n.task_id and a.attempt_no < n.attempt_no
    where n.attempt_id = any(v_ids) and a.is_stop_pending and forebay._is_external(a.launcher)
        and forebay._is_known_as(a.place, v_places ->> a.launcher)
        and (a.run_id is not null or a.job_id is not null);
    return query select * from forebay._ask_stop(v_attempts, forebay._now());
end;
$function$;

comment on function forebay.runs_before is
'List the runs of earlier attempts of the same tasks that were not seen to end yet: to be cancelled before a new launch.';
