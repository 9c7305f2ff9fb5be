create or replace function forebay._claim(
    p_worker text,
    p_agent  text,
    p_limit  integer,
    p_floor  integer,
    p_waits  boolean
)
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
-- Locks    the customers that have a cap; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for a customer that has a cap, and p_waits is false
declare
    v_now   timestamptz := forebay._now();
    v_agent forebay.agents := forebay._get_effective(p_agent, v_now);
    v_line  forebay.lined_up[];
begin
    if v_agent.paused_until > v_now then
        return;
    end if;
    v_line := forebay._pick(v_agent, p_limit, p_floor, v_now, true);
    if v_line <> '{}' then
        return query select * from forebay._admit(p_worker, v_agent, v_line, v_now);
    end if;
end;
$function$;

comment on function forebay._claim is 'Admit up to p_limit of the agent''s tasks of priority p_floor and more (null: any); the caller holds the agent''s lock.';
