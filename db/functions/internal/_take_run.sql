create or replace function forebay._take_run(p_attempt forebay.task_attempts, p_run_id text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note the run of an attempt, and that it runs; the caller holds the attempt, and if it has ended its task as well.
--
-- Writes  forebay.task_attempts.run_id, status
-- Errors  22023  p_run_id is null, empty or too long
--         QF202  another run is recorded
begin
    if p_run_id is null or char_length(p_run_id) not between 1 and 500 then
        raise exception 'p_run_id must have 1 to 500 characters' using errcode = '22023';
    end if;
    if p_attempt.run_id <> p_run_id then
        raise exception 'attempt % already runs as %, not as %', p_attempt.attempt_id, p_attempt.run_id, p_run_id
            using errcode = 'QF202';
    end if;
    update forebay.task_attempts as a
    set run_id = p_run_id, status = case a.status when 'claimed' then 'running' else a.status end
    where a.attempt_id = p_attempt.attempt_id and p_attempt.run_id is null;
end;
$function$;

comment on function forebay._take_run is
'Note the run of an attempt, and that it runs; the caller holds the attempt, and if it has ended its task as well.';
