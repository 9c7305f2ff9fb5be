create or replace function forebay.runs_to_cancel(p_worker text, p_limit integer default 100)
    returns setof forebay.run_to_cancel
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.
--
-- A run is handed out at most once in ten seconds, to whoever asks first, until observe_run or a report shows its end; one
-- that does not end for long, more seldom, up to once in ten minutes. Those asked least recently come first. One that nobody
-- recorded is handed out without an id, for a day, once the lease is over: a launch with the same token finds it.
-- What runs where p_worker has no launcher is not named. In a copy that nobody has opened it names none: they are the
-- original's.
--
-- Returns    one row a run, by attempt; run_id null: not recorded
-- Writes     forebay.task_attempts.stop_asked_at
-- Locks      the attempts, skipping what somebody else holds
-- Errors     22023  p_worker or p_limit is wrong
-- Called by  forebay_worker
declare
    v_now      timestamptz := forebay._now();
    v_places   jsonb := forebay._places(p_worker);
    v_attempts bigint[];
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if not forebay._may_dispatch() then
        return;
    end if;
    select array_agg(due.attempt_id) into v_attempts from (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.is_stop_pending and forebay._is_external(a.launcher)
            and forebay._is_known_as(a.place, v_places ->> a.launcher)
            and (
                a.run_id is not null
                or a.job_id is not null and a.lease_expires_at <= v_now and a.finished_at > v_now - interval '1 day'
            )
            and (a.stop_asked_at is null or a.stop_asked_at <= v_now - forebay._stop_wait(a))
        order by a.stop_asked_at nulls first, a.attempt_id
        limit p_limit
        for no key update skip locked
    ) as due;
    return query select * from forebay._ask_stop(v_attempts, v_now);
end;
$function$;

comment on function forebay.runs_to_cancel is 'List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.';
