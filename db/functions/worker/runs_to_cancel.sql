create or replace function forebay.runs_to_cancel(p_worker text, p_limit integer default 100)
    returns setof forebay.run_to_cancel
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.
--
-- A run is handed out at most once in ten seconds, to whoever asks first, until observe_run or a report shows its end.
-- In a copy that nobody has opened it names none: they are the original's.
--
-- Returns    one row a run
-- Writes     forebay.task_attempts.stop_asked_at
-- Locks      the attempts, skipping what somebody else holds
-- Errors     22023  p_worker or p_limit is wrong
-- Called by  forebay_worker
declare
    v_now timestamptz := forebay._now();
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if not forebay._may_dispatch() then
        return;
    end if;
    return query
    with due as (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.is_stop_pending and forebay._is_external(a.launcher) and a.run_id is not null
            and (a.stop_asked_at is null or a.stop_asked_at <= v_now - interval '10 seconds')
        order by a.attempt_id
        limit p_limit
        for no key update skip locked
    )
    update forebay.task_attempts as a
    set stop_asked_at = v_now
    from due, forebay.agents as g
    where a.attempt_id = due.attempt_id and g.agent = a.agent
    returning a.attempt_id, a.task_id, a.agent, a.launcher, g.job_id, a.run_id, a.launch_token;
end;
$function$;

comment on function forebay.runs_to_cancel is 'List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.';
