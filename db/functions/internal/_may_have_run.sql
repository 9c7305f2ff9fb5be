create or replace function forebay._may_have_run(p_attempt forebay.task_attempts, p_run jsonb, p_now timestamptz)
    returns boolean
    language sql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether an attempt may have a run although its launch was refused: p_run then says nothing of its end.
--
-- Where it has ended without one that was recorded, its launch token may name one, for a day, while its job is there.
select p_run ->> 'life_cycle_state' = 'LAUNCH_FAILED' and case
    when p_attempt.run_id is not null then true
    when p_attempt.finished_at is null then forebay._is_unclear(p_attempt.run_state, p_run) is not null
    else p_attempt.finished_at > p_now - interval '1 day' and coalesce(p_run ->> 'result_state', '') not in ('404', 'NO_JOB')
end;
$function$;

comment on function forebay._may_have_run is
'Whether an attempt may have a run although its launch was refused: p_run then says nothing of its end.';
