create or replace function forebay._firsts(
    p_agent      text,
    p_customers  text[],
    p_priorities integer[],
    p_depths     integer[],
    p_except     bigint[],
    out nth      integer,
    out task     forebay.tasks
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The nth customer's first tasks of the nth priority, as many as the nth of p_depths, for each n.
begin
    return query
    select s.nth::integer, f.task
    from unnest(p_customers, p_priorities, p_depths) with ordinality as s (customer, priority, depth, nth)
    cross join lateral (
        (
            select t as task from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                and t.customer = s.customer and t.priority = s.priority and t.task_id <> all(p_except)
            order by t.created_at, t.task_id
            limit s.depth
        )
        union all
        (
            select t from forebay.tasks as t
            where s.customer is null and t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                and t.customer is null and t.priority = s.priority and t.task_id <> all(p_except)
            order by t.created_at, t.task_id
            limit s.depth
        )
    ) as f;
end;
$function$;

comment on function forebay._firsts is 'The nth customer''s first tasks of the nth priority, as many as the nth of p_depths, for each n.';
