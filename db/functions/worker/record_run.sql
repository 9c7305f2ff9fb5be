create or replace function forebay.record_run(p_attempt_id bigint, p_run_id text)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.
--
-- Writes     forebay.task_attempts.run_id, status
-- Locks      the attempt
-- Errors     22023  p_attempt_id is null, or p_run_id is null, empty or too long
--            QF202  another run is recorded: a launch token names one run
--            QF304  there is no such attempt
-- Called by  forebay_worker
declare
    v_run_id text;
begin
    if p_run_id is null or char_length(p_run_id) not between 1 and 500 then
        raise exception 'p_run_id must have 1 to 500 characters' using errcode = '22023';
    end if;
    perform forebay._get_attempt(p_attempt_id);
    select a.run_id into v_run_id from forebay.task_attempts as a where a.attempt_id = p_attempt_id for no key update;
    if v_run_id <> p_run_id then
        raise exception 'attempt % already runs as %, not as %', p_attempt_id, v_run_id, p_run_id using errcode = 'QF202';
    end if;

    update forebay.task_attempts as a
    set run_id = p_run_id, status = case a.status when 'claimed' then 'running' else a.status end
    where a.attempt_id = p_attempt_id and v_run_id is null;
end;
$function$;

comment on function forebay.record_run is 'Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.';
