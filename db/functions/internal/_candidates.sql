create or replace function forebay._candidates(
    p_agents       text[],
    p_launchers    text[],
    out agent      text,
    out priority   integer
)
    returns setof record
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agents that could start a task now, each with the priority of the best that waits: a look without any lock.
--
-- An agent that is full, or has nothing waiting, counts with the tasks whose leases ran out: they can go back in line.
-- Volatile, so that a second look in one statement sees what the first claim did.
--
-- Returns  one row an agent, in no set order
declare
    v_now   timestamptz := forebay._now();
    v_agent forebay.agents;
    v_room  integer;
    v_head  forebay.lined_up;
begin
    for agent in
        select a.agent from forebay.agents as a
        where (p_agents is null or a.agent = any(p_agents))
            and a.launcher = any(coalesce(p_launchers, case when p_agents is null then array['pull'] else array[a.launcher] end))
            and (a.paused_until is null or a.paused_until <= v_now)
    loop
        v_agent := forebay._get_effective(agent, v_now);
        continue when forebay._is_stopped(v_agent, v_now);
        v_room := forebay._room(v_agent, v_now);
        v_head := (case when v_room > 0 then forebay._pick(v_agent, 1, null, v_now, false) end)[1];
        if v_head.task_id is not null then
            priority := v_head.priority;
        elsif v_room > 0 and forebay._has_waiting(agent, v_now) then
            priority := null;
        else
            priority := forebay._expired_priority(v_agent, v_now);
            if priority is not null and v_room = 0 then
                v_head := (forebay._line(v_agent, 1, null, v_now, false))[1];
                priority := greatest(priority, v_head.priority);
            end if;
        end if;
        if priority is not null then
            return next;
        end if;
    end loop;
end;
$function$;

comment on function forebay._candidates is 'The agents that could start a task now, each with the priority of the best that waits: a look without any lock.';
