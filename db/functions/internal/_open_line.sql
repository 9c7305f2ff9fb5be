create or replace function forebay._open_line(p_agent text, p_waits boolean)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take the agent's lock and make its line ready: due tasks join it, and where it is full or empty, expired leases too.
--
-- Returns  how many tasks were moved
-- Locks    the agent; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for the agent, and p_waits is false
declare
    v_agent forebay.agents;
    v_now   timestamptz;
    v_swept forebay.sweep_result;
    v_moved integer;
begin
    perform forebay._lock_agent(p_agent, p_waits);
    v_agent := forebay._get_agent(p_agent);
    v_now := forebay._now();
    v_moved := forebay._wake_due(p_agent, v_now, 10000);
    if forebay._room(v_agent, v_now) = 0 or (forebay._head(p_agent, v_now)).task_id is null then
        v_swept := forebay._end_expired(p_agent, 1000);
        v_moved := v_moved + v_swept.requeued + v_swept.failed;
    end if;
    return v_moved;
end;
$function$;

comment on function forebay._open_line is 'Take the agent''s lock and make its line ready: due tasks join it, and where it is full or empty, expired leases too.';
