create or replace function forebay.record_run(p_attempt_id bigint, p_run_id text)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.
--
-- What an ended one used and cost is then known no more than its usage and the records of its machine tell.
--
-- Writes     forebay.task_attempts, forebay.tasks
-- Locks      the task, then the attempt
-- Errors     22023  p_attempt_id is null, or p_run_id is null, empty or too long
--            QF202  another run is recorded: a launch token names one run
--            QF304  there is no such attempt
-- Called by  forebay_worker
declare
    v_attempt forebay.task_attempts;
begin
    v_attempt := (forebay._lock_attempt(p_attempt_id)).attempt;
    perform forebay._take_run(v_attempt, p_run_id);
    if v_attempt.finished_at is not null then
        perform forebay._count_usage(p_attempt_id);
    end if;
end;
$function$;

comment on function forebay.record_run is 'Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.';
