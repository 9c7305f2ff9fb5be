create or replace function forebay._expired_priority(p_agent forebay.agents, p_now timestamptz)
    returns integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The best priority of the tasks that could be taken from the agent's workers now; null when there is none.
declare
    v_limits forebay.installation := forebay._limits();
begin
    return (
        select max((select forebay._effective_priority(p_agent, t, p_now) from forebay.tasks as t where t.task_id = a.task_id))
        from forebay.task_attempts as a
        where a.agent = p_agent.agent and a.finished_at is null
            and forebay._is_expired(a, p_now, v_limits.adoption_grace, v_limits.report_grace)
    );
end;
$function$;

comment on function forebay._expired_priority is 'The best priority of the tasks that could be taken from the agent''s workers now; null when there is none.';
