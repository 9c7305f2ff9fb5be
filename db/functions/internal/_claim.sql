create or replace function forebay._claim(p_worker text, p_agent text, p_limit integer, p_floor integer)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Admit up to p_limit of the agent's tasks of priority p_floor and more (null: any); the caller holds the agent's lock.
--
-- p_limit is within the room that _open_line counted. The time of the claim is read here, after the count, so that no
-- attempt that was not counted ends after it.
--
-- Returns  one row an attempt, in the order of the line
-- Locks    tasks and attempts without waiting
declare
    v_agent  forebay.agents := forebay._get_agent(p_agent);
    v_levels record;
    v_now    timestamptz := forebay._now();
begin
    if v_agent.paused_until > v_now then
        return;
    end if;
    select l.* into v_levels from forebay._levels(v_agent, v_now) as l;
    return query select * from forebay._admit(
        p_worker, v_agent, p_limit, p_floor, v_levels.tokens, v_levels.requests, v_levels.folded, v_now
    );
end;
$function$;

comment on function forebay._claim is 'Admit up to p_limit of the agent''s tasks of priority p_floor and more (null: any); the caller holds the agent''s lock.';
