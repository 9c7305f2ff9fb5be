create or replace function forebay._shares(
    p_agent  text,
    p_limit  integer,
    p_now    timestamptz,
    p_ready  boolean,
    p_except bigint[]
)
    returns setof forebay.tasks
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first p_limit tasks of each customer and priority of an agent that serves its customers in turns.
--
-- The index is entered anew for each customer and each priority: what else they have waiting costs nothing.
begin
    return query
    with recursive shares as (
        (
            select t.customer, t.priority from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
            order by t.customer, t.priority desc
            limit 1
        )
        union all
        select n.customer, n.priority
        from shares as s
        cross join lateral (
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer = s.customer and t.priority < s.priority
                order by t.priority desc
                limit 1
            )
            union all
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer > s.customer
                order by t.customer, t.priority desc
                limit 1
            )
            union all
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer is null and t.priority < case when s.customer is null then s.priority else 32768 end
                order by t.priority desc
                limit 1
            )
            limit 1
        ) as n
    )
    select firsts.*
    from shares as s
    cross join lateral (
        (
            select t.* from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                and t.customer = s.customer and t.priority = s.priority and t.task_id <> all(p_except)
            order by t.created_at, t.task_id
            limit p_limit
        )
        union all
        (
            select t.* from forebay.tasks as t
            where s.customer is null and t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                and t.customer is null and t.priority = s.priority and t.task_id <> all(p_except)
            order by t.created_at, t.task_id
            limit p_limit
        )
    ) as firsts
    union all
    select t.* from forebay.tasks as t
    where not p_ready and t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now;
end;
$function$;

comment on function forebay._shares is 'The first p_limit tasks of each customer and priority of an agent that serves its customers in turns.';
