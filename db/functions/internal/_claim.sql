create or replace function forebay._claim(
    p_worker text,
    p_agent  forebay.agents,
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
-- The agent and p_limit are as _open_line left them. The time of the claim is read here, after its count, so that no
-- attempt that was not counted ends after it. Customers are locked by what could start before: a task of another one that has
-- a cap has to wait for the next claim.
--
-- Returns  one row an attempt, in the order of the line
-- Locks    the customers that have a cap; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for a customer that has a cap, and p_waits is false
declare
    v_now       timestamptz := forebay._now();
    v_customers text[];
    v_line      forebay.lined_up[];
begin
    if forebay._is_stopped(p_agent, v_now) then
        return;
    end if;
    if forebay._has_customer_caps() then
        v_customers := array(
            select l.customer from unnest(forebay._pick(p_agent, p_limit, p_floor, v_now, false)) as l
            where l.customer is not null
            group by l.customer
        );
        perform forebay._lock_customers(v_customers, p_waits);
        v_now := forebay._now();
    end if;
    v_line := forebay._pick(p_agent, p_limit, p_floor, v_now, true);
    if v_customers is not null then
        v_line := array(
            select l from unnest(v_line) as l
            where l.customer is null or l.customer = any(v_customers) or not exists (
                select from forebay.customers as c where c.customer = l.customer and c.max_usd_per_day is not null
            )
        );
    end if;
    if v_line <> '{}' then
        return query select * from forebay._admit(p_worker, p_agent, v_line, v_now);
    end if;
end;
$function$;

comment on function forebay._claim is 'Admit up to p_limit of the agent''s tasks of priority p_floor and more (null: any); the caller holds the agent''s lock.';
