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
    v_now    timestamptz := forebay._now();
    v_agent  forebay.agents;
    v_room   integer;
    v_head   forebay.tasks;
begin
    for v_agent in
        select a.* from forebay.agents as a
        where (p_agents is null or a.agent = any(p_agents))
            and a.launcher = any(coalesce(p_launchers, case when p_agents is null then array['pull'] else array[a.launcher] end))
            and (a.paused_until is null or a.paused_until <= v_now)
    loop
        agent := v_agent.agent;
        v_room := forebay._room(v_agent, v_now);
        v_head := case when v_room > 0 then forebay._head(agent, v_now) end;
        if v_head.task_id is not null then
            priority := case when forebay._head_fits(v_agent, v_head, v_now) then v_head.priority::integer end;
        else
            priority := forebay._expired_priority(agent, v_now);
            if priority is not null and v_room = 0 then
                priority := greatest(priority, (forebay._head(agent, v_now)).priority::integer);
            end if;
        end if;
        if priority is not null then
            return next;
        end if;
    end loop;
end;
$function$;

comment on function forebay._candidates is 'The agents that could start a task now, each with the priority of the best that waits: a look without any lock.';
