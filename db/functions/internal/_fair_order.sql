create or replace function forebay._fair_order(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_locks   boolean,
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
-- Of each customer's tasks of one priority the first is read; then, where that is in the answer, four times as many, as long
-- as the answer might go on with the next of them. With p_locks without what was not woken yet.
declare
    v_customers  text[];
    v_priorities integer[];
    v_depths     integer[];
    v_is_open    boolean;
    v_ids        bigint[];
begin
    select array_agg(c.customer), array_agg(c.priority), array_agg(1) into v_customers, v_priorities, v_depths
    from forebay._customer_priorities(p_agent.agent) as c
    where c.customer is null or c.customer <> all(p_capped);
    loop
        with placed as (
            select t.task_id, t.nth, row_number() over (order by t.priority desc, t.turn, t.created_at, t.task_id) as place
            from forebay._turns(
                p_agent, v_customers, v_priorities, v_depths, p_now, p_locks, p_capped, p_except, p_learned
            ) as t
            where p_floor is null or t.priority >= p_floor
        ), kept as (
            select p.nth, count(*) = v_depths[p.nth] and max(p.place) < p_limit as is_open
            from placed as p
            where p.nth is not null
            group by p.nth
            having min(p.place) <= p_limit
        )
        select
            (select array_agg(p.task_id order by p.place) from placed as p where p.place <= p_limit),
            array_agg(v_customers[k.nth]), array_agg(v_priorities[k.nth]),
            array_agg(v_depths[k.nth] * case when k.is_open then 4 else 1 end), bool_or(k.is_open)
        into v_ids, v_customers, v_priorities, v_depths, v_is_open
        from kept as k;
        exit when v_is_open is not true;
    end loop;
    return coalesce(v_ids, array[]::bigint[]);
end;
$function$;

comment on function forebay._fair_order is 'The first p_limit tasks in line by effective priority, then by whose customer has had least, then age, then id.';
