create or replace function forebay._claim(
    p_worker text,
    p_agent  text,
    p_limit  integer,
    p_floor  integer,
    p_wait   boolean
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Admit up to p_limit of the agent's tasks of priority p_floor and more (null: any), under the agent's lock.
--
-- The lock is a statement of its own, and everything is read and counted in later ones: a count in the locking statement
-- would see the world as it was before the lock was granted. The time of the claim is read after the count, so that no
-- attempt that was not counted ends after it. An agent without any limit needs no lock.
--
-- Returns  one row an attempt, in the order of the line
-- Locks    the agent's budget row; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for the agent, and p_wait is false
declare
    v_agent  forebay.agents := forebay._get_agent(p_agent);
    v_levels record;
    v_room   integer;
    v_now    timestamptz;
begin
    if forebay._is_limited(v_agent) then
        if p_wait then
            perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update;
        else
            perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update nowait;
        end if;
    end if;
    v_agent := forebay._get_agent(p_agent);
    v_now := forebay._now();
    if v_agent.paused_until > v_now then
        return;
    end if;

    perform forebay._wake_due(p_agent, v_now, 10000);
    v_room := forebay._room(v_agent, v_now);
    if v_room = 0 or (forebay._head(p_agent, v_now)).task_id is null then
        perform forebay._end_expired(p_agent, 1000);
        v_room := forebay._room(v_agent, forebay._now());
    end if;
    if v_room = 0 then
        return;
    end if;

    v_now := forebay._now();
    select l.* into v_levels from forebay._levels(v_agent, v_now) as l;
    return query select * from forebay._admit(
        p_worker, v_agent, least(p_limit, v_room), p_floor, v_levels.tokens, v_levels.requests, v_levels.folded, v_now
    );
end;
$function$;

comment on function forebay._claim is 'Admit up to p_limit of the agent''s tasks of priority p_floor and more (null: any), under the agent''s lock.';
