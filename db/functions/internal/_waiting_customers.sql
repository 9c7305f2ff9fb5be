create or replace function forebay._waiting_customers(p_agent text)
    returns table (customer text)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The customers with tasks in the line of an agent that serves them in turns, each once; null for tasks without one.
begin
    return query
    with recursive customers as (
        select min(t.customer) as customer
        from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
        union all
        select (
            select min(t.customer) from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared and t.customer > c.customer
        )
        from customers as c
        where c.customer is not null
    )
    select c.customer from customers as c where c.customer is not null
    union all
    (
        select t.customer from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared and t.customer is null
        limit 1
    );
end;
$function$;

comment on function forebay._waiting_customers is 'The customers with tasks in the line of an agent that serves them in turns, each once; null for tasks without one.';
