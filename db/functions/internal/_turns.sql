create or replace function forebay._turns(
    p_agent        forebay.agents,
    p_customers    text[],
    p_priorities   integer[],
    p_depths       integer[],
    p_now          timestamptz,
    p_ready        boolean,
    p_capped       text[],
    p_except       bigint[],
    p_learned      forebay.learned,
    out task_id    bigint,
    out created_at timestamptz,
    out priority   integer,
    out turn       numeric,
    out share      integer
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- When it is the turn of the first tasks of each share, p_depths of them, and unless p_ready of those that were not woken yet.
--
-- The turn of a task is what its customer's count will be once the customer's tasks before it have started. A customer
-- without a count starts from the agent's turn: nobody saves up.
--
-- Returns  one row a task, in no set order; share is its place in the arrays, null where it was not woken yet
declare
    v_turn numeric := (select b.turn from forebay.agent_budgets as b where b.agent = p_agent.agent);
begin
    return query
    with firsts as (
        select f.task, s.share::integer as share
        from unnest(p_customers, p_priorities, p_depths) with ordinality as s (customer, priority, depth, share)
        cross join lateral (
            (
                select t as task from forebay.tasks as t
                where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer = s.customer and t.priority = s.priority and t.task_id <> all(p_except)
                order by t.created_at, t.task_id
                limit s.depth
            )
            union all
            (
                select t from forebay.tasks as t
                where s.customer is null and t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready
                    and t.is_shared and t.customer is null and t.priority = s.priority and t.task_id <> all(p_except)
                order by t.created_at, t.task_id
                limit s.depth
            )
        ) as f
        union all
        select t, null from forebay.tasks as t
        where not p_ready and t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready
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
        r.share
    from ranked as r
    left join forebay.customer_turns as c on c.agent = p_agent.agent and c.customer = coalesce((r.task).customer, '');
end;
$function$;

comment on function forebay._turns is 'When it is the turn of the first tasks of each share, p_depths of them, and unless p_ready of those that were not woken yet.';
