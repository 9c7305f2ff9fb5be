create or replace function forebay._count_expired(p_agent text, p_now timestamptz)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's attempts have lost their right to their task, and are still open: a dequeue ends them.
declare
    v_limits forebay.installation := forebay._limits();
begin
    return (
        select count(*) from forebay.task_attempts as a
        where a.agent = p_agent and a.finished_at is null
            and forebay._is_expired(a, p_now, v_limits.adoption_grace, v_limits.report_grace)
    );
end;
$function$;

comment on function forebay._count_expired is
'How many of the agent''s attempts have lost their right to their task, and are still open: a dequeue ends them.';
