create or replace function forebay._open_line(p_agent text, p_waits boolean)
    returns forebay.opened_line
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take the agent's lock and those of its quotas, and make its line ready: due tasks join it, and where it is full or empty, expired leases too.
--
-- Each lock is a statement of its own, and everything is read and counted in later ones: a count in the locking statement
-- would see the world as it was before the lock was granted.
--
-- Locks    the agent, then its quotas by name; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for the agent or on a quota of it, and p_waits is false
declare
    v_agent forebay.agents;
    v_now   timestamptz;
    v_moved integer;
    v_room  integer;
    v_swept forebay.sweep_result;
begin
    perform forebay._lock_agent(p_agent, p_waits);
    v_agent := forebay._get_agent(p_agent);
    if v_agent.quotas <> '{}' then
        perform forebay._lock_quotas(v_agent, p_waits);
    end if;
    v_now := forebay._now();
    v_agent := forebay._get_effective(p_agent, v_now);
    v_moved := forebay._wake_due(p_agent, v_now, 10000);
    v_room := forebay._room(v_agent, v_now);
    if v_room = 0 or not forebay._has_waiting(p_agent, v_now) then
        v_swept := forebay._end_expired(p_agent, 1000);
        if v_swept.requeued + v_swept.failed > 0 then
            v_moved := v_moved + v_swept.requeued + v_swept.failed;
            v_room := forebay._room(v_agent, forebay._now());
        end if;
    end if;
    return (v_agent, v_moved, v_room)::forebay.opened_line;
end;
$function$;

comment on function forebay._open_line is 'Take the agent''s lock and those of its quotas, and make its line ready: due tasks join it, and where it is full or empty, expired leases too.';
