create or replace function forebay._ask_stop(p_attempt_ids bigint[], p_now timestamptz)
    returns setof forebay.run_to_cancel
    language sql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note that the runs of these attempts, which the caller holds, are asked to end now, and hand them out.
--
-- Returns  one row a run, by attempt
-- Writes   forebay.task_attempts.stop_asked_at
with asked as (
    update forebay.task_attempts as a
    set stop_asked_at = p_now
    where a.attempt_id = any(p_attempt_ids)
    returning a.*
)
select a.attempt_id, a.task_id, a.agent, a.launcher, coalesce(a.job_id, g.job_id), a.run_id, a.launch_token
from asked as a
inner join forebay.agents as g on g.agent = a.agent
order by a.attempt_id;
$function$;

comment on function forebay._ask_stop is
'Note that the runs of these attempts, which the caller holds, are asked to end now, and hand them out.';
