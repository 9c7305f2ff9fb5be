create or replace function forebay._failing_launches(p_agent forebay.agents, p_at timestamptz)
    returns setof forebay.task_attempts
    language sql
    stable
    security invoker
as $function$
-- The attempts of the agent's job that wait for a run at p_at, as their launches have failed and are tried again.
--
-- One whose lease is over is tried by nobody; one of a job that the agent had before says nothing of the one that it has, nor
-- does one of a worker whose launcher is away.
select a.*
from forebay.task_attempts as a
where a.agent = p_agent.agent and a.finished_at is null and a.run_id is null
    and a.run_state ->> 'life_cycle_state' = 'LAUNCH_FAILED'
    and a.run_state -> 'is_launcher_away' is distinct from 'true'::jsonb
    and a.lease_expires_at > p_at and a.job_id is not distinct from p_agent.job_id;
$function$;

comment on function forebay._failing_launches is
'The attempts of the agent''s job that wait for a run at p_at, as their launches have failed and are tried again.';
