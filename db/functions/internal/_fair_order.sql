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
-- A share is what a customer has of one priority. Of each the first task is read, then of those that are in the answer four
-- times as many, as long as the answer might go on with the next of them. With p_ready without what was not woken yet.
declare
    v_customers  text[];
    v_priorities integer[];
    v_depths     integer[];
    v_is_open    boolean;
    v_ids        bigint[];
begin
    select array_agg(s.customer), array_agg(s.priority), array_agg(1) into v_customers, v_priorities, v_depths
    from forebay._shares(p_agent.agent) as s
    where s.customer is null or s.customer <> all(p_capped);
    loop
        with placed as (
            select t.task_id, t.share, row_number() over (order by t.priority desc, t.turn, t.created_at, t.task_id) as place
            from forebay._turns(
                p_agent, v_customers, v_priorities, v_depths, p_now, p_ready, p_capped, p_except, p_learned
            ) as t
            where p_floor is null or t.priority >= p_floor
        ), kept as (
            select p.share, count(*) = v_depths[p.share] and max(p.place) < p_limit as is_open
            from placed as p
            where p.share is not null
            group by p.share
            having min(p.place) <= p_limit
        )
        select
            (select array_agg(p.task_id order by p.place) from placed as p where p.place <= p_limit),
            array_agg(v_customers[k.share]), array_agg(v_priorities[k.share]),
            array_agg(v_depths[k.share] * case when k.is_open then 4 else 1 end), bool_or(k.is_open)
        into v_ids, v_customers, v_priorities, v_depths, v_is_open
        from kept as k;
        exit when v_is_open is not true;
    end loop;
    return coalesce(v_ids, array[]::bigint[]);
end;
$function$;

comment on function forebay._fair_order is 'The first p_limit tasks in line by effective priority, then by whose customer has had least, then age, then id.';
