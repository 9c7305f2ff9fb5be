create or replace function forebay._customer_priorities(p_agent text, out customer text, out priority integer)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which customers have tasks in the line of an agent that serves them in turns, and of which priorities; null for no customer.
--
-- The index is entered anew for each: how many tasks they have costs nothing.
begin
    return query
    with recursive found as (
        (
            select t.customer, t.priority::integer as priority from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
            order by t.customer, t.priority desc
            limit 1
        )
        union all
        select n.customer, n.priority::integer
        from found as f
        cross join lateral (
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer = f.customer and t.priority < f.priority
                order by t.priority desc
                limit 1
            )
            union all
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer > f.customer
                order by t.customer, t.priority desc
                limit 1
            )
            union all
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer is null and t.priority < case when f.customer is null then f.priority else 32768 end
                order by t.priority desc
                limit 1
            )
            limit 1
        ) as n
    )
    select f.customer, f.priority from found as f;
end;
$function$;

comment on function forebay._customer_priorities is 'Which customers have tasks in the line of an agent that serves them in turns, and of which priorities; null for no customer.';
