create or replace function forebay._ask_stop(p_attempt_ids bigint[], p_now timestamptz)
    returns setof forebay.run_to_cancel
    language sql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Hand out the runs of these attempts, and note that they are asked to end now, unless somebody else holds the attempt.
--
-- Returns  one row a run, by attempt
-- Writes   forebay.task_attempts.stop_asked_at
-- Locks    the attempts, skipping what somebody else holds
with free as (
    select a.attempt_id
    from forebay.task_attempts as a
    where a.attempt_id = any(p_attempt_ids)
    order by a.attempt_id
    for no key update skip locked
), noted as (
    update forebay.task_attempts as a
    set stop_asked_at = p_now
    from free
    where a.attempt_id = free.attempt_id
)
select a.attempt_id, a.task_id, a.agent, a.launcher, coalesce(a.job_id, g.job_id), a.run_id, a.launch_token
from forebay.task_attempts as a
inner join forebay.agents as g on g.agent = a.agent
where a.attempt_id = any(p_attempt_ids)
order by a.attempt_id;
$function$;

comment on function forebay._ask_stop is
'Hand out the runs of these attempts, and note that they are asked to end now, unless somebody else holds the attempt.';
