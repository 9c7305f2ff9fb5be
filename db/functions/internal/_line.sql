create or replace function forebay._line(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_locks   boolean,
    p_learned forebay.learned default null,
    p_capped  text[] default null
)
    returns forebay.lined_up[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first p_limit tasks in the agent's line that have priority p_floor and more (null: any).
--
-- With p_locks those that nobody else holds; without it, those that are due and not woken yet stand in line too. Tasks of
-- the customers p_capped do not. Where it is null, they are those whose cap is reached, and p_learned is looked up too.
--
-- Locks  with p_locks the tasks, without waiting
declare
    v_learned forebay.learned := p_learned;
    v_capped  text[] := coalesce(p_capped, array[]::text[]);
begin
    if p_capped is null and forebay._is_weighed(p_agent) then
        v_learned := forebay._learned(p_agent.agent);
        v_capped := forebay._capped_customers(p_now);
    end if;
    if p_agent.aging is not null or p_agent.is_fair_by_customer then
        return forebay._ranked_line(p_agent, p_limit, p_floor, p_now, p_locks, v_capped, v_learned);
    elsif not p_locks then
        return forebay._strict_line(p_agent, p_limit, p_floor, p_now, v_capped, v_learned);
    end if;
    return array(
        select forebay._lined_up(p_agent, h, v_learned, p_now)
        from (
            select t.* from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready
                and t.priority >= coalesce(p_floor, -32768) and (t.customer is null or t.customer <> all(v_capped))
            order by t.priority desc, t.created_at, t.task_id
            limit p_limit
            for no key update skip locked
        ) as h
        order by h.priority desc, h.created_at, h.task_id
    );
end;
$function$;

comment on function forebay._line is 'The first p_limit tasks in the agent''s line that have priority p_floor and more (null: any).';
