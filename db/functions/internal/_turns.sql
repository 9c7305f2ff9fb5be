create or replace function forebay._turns(
    p_agent        forebay.agents,
    p_customers    text[],
    p_priorities   integer[],
    p_depths       integer[],
    p_now          timestamptz,
    p_locks        boolean,
    p_capped       text[],
    p_except       bigint[],
    p_learned      forebay.learned,
    out task_id    bigint,
    out created_at timestamptz,
    out priority   integer,
    out turn       numeric,
    out nth        integer
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- When it is the turn of the first p_depths tasks of each customer and priority, and unless p_locks of those not woken yet.
--
-- The turn of a task is what its customer's count will be once the customer's tasks before it have started. A customer
-- without a count starts from the agent's turn: nobody saves up.
--
-- Returns  one row a task, in no set order; nth is the place of its customer and priority, null where it was not woken yet
declare
    v_turn numeric := (select b.turn from forebay.agent_budgets as b where b.agent = p_agent.agent);
begin
    return query
    with firsts as (
        select f.task, f.nth
        from forebay._firsts(p_agent.agent, p_customers, p_priorities, p_depths, p_except) as f
        union all
        select t, null from forebay.tasks as t
        where not p_locks and t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready
            and t.available_at <= p_now and (t.customer is null or t.customer <> all(p_capped))
    ), ranked as (
        select
            f.*, forebay._effective_priority(p_agent, f.task, p_now) as priority,
            forebay._turn_cost((forebay._lined_up(p_agent, f.task, p_learned, p_now)).uses) as cost
        from firsts as f
    )
    select
        (r.task).task_id, (r.task).created_at, r.priority,
        coalesce(c.served, v_turn) - r.cost + sum(r.cost) over (
            partition by (r.task).customer order by r.priority desc, (r.task).created_at, (r.task).task_id
        ),
        r.nth
    from ranked as r
    left join forebay.customer_turns as c on c.agent = p_agent.agent and c.customer = coalesce((r.task).customer, '');
end;
$function$;

comment on function forebay._turns is 'When it is the turn of the first p_depths tasks of each customer and priority, and unless p_locks of those not woken yet.';
