create or replace function forebay._aged_order(
    p_agent  forebay.agents,
    p_limit  integer,
    p_floor  integer,
    p_now    timestamptz,
    p_locks  boolean,
    p_capped text[],
    p_except bigint[]
)
    returns bigint[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first p_limit tasks in line by effective priority, then age, then id; with p_locks not those that were not woken yet.
--
-- Inside a priority the older one has aged more, so each priority's line is in order already, and only its first p_limit
-- are read: the tasks behind them cost nothing.
begin
    return array(
        with waiting as (
            select firsts.*
            from forebay._waiting_priorities(p_agent.agent) as p (priority)
            cross join lateral (
                select t as task from forebay.tasks as t
                where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready and t.priority = p.priority
                    and (t.customer is null or t.customer <> all(p_capped)) and t.task_id <> all(p_except)
                order by t.created_at, t.task_id
                limit p_limit
            ) as firsts
            union all
            select t from forebay.tasks as t
            where not p_locks and t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready
                and t.available_at <= p_now and (t.customer is null or t.customer <> all(p_capped))
        )
        select (w.task).task_id
        from waiting as w
        cross join lateral (select forebay._effective_priority(p_agent, w.task, p_now) as priority) as effective
        where p_floor is null or effective.priority >= p_floor
        order by effective.priority desc, (w.task).created_at, (w.task).task_id
        limit p_limit
    );
end;
$function$;

comment on function forebay._aged_order is 'The first p_limit tasks in line by effective priority, then age, then id; with p_locks not those that were not woken yet.';
