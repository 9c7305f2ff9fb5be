create or replace function forebay._fair_order(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_ready   boolean,
    p_capped  text[],
    p_except  bigint[],
    p_learned forebay.learned
)
    returns bigint[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first p_limit tasks in line by effective priority, then by whose customer has had least, then age, then id.
--
-- Each task stands where its customer's count will be once the customer's tasks before it have started. A customer without
-- a count starts from the agent's turn: nobody saves up. With p_ready not those that were not woken yet.
declare
    v_turn numeric := (select b.turn from forebay.agent_budgets as b where b.agent = p_agent.agent);
begin
    return array(
        with ranked as (
            select
                t as task, forebay._effective_priority(p_agent, t, p_now) as priority,
                forebay._turn_cost((forebay._lined_up(p_agent, t, p_learned, p_now)).uses) as cost
            from forebay._shares(p_agent.agent, p_limit, p_now, p_ready, p_except) as t
            where t.customer is null or t.customer <> all(p_capped)
        ), counted as (
            select
                r.*,
                coalesce(c.served, v_turn) - r.cost + sum(r.cost) over (
                    partition by (r.task).customer order by r.priority desc, (r.task).created_at, (r.task).task_id
                ) as turn
            from ranked as r
            left join forebay.customer_turns as c on c.agent = p_agent.agent and c.customer = coalesce((r.task).customer, '')
        )
        select (c.task).task_id
        from counted as c
        where p_floor is null or c.priority >= p_floor
        order by c.priority desc, c.turn, (c.task).created_at, (c.task).task_id
        limit p_limit
    );
end;
$function$;

comment on function forebay._fair_order is 'The first p_limit tasks in line by effective priority, then by whose customer has had least, then age, then id.';
