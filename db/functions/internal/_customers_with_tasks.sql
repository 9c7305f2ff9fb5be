create or replace function forebay._customers_with_tasks()
    returns setof text
    language sql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
as $function$
-- The customers that any task has: from one name to the next in the index, whatever number of tasks lies between them.
with recursive names (customer) as (
    (
        select t.customer from forebay.tasks as t
        where t.customer is not null
        order by t.customer
        limit 1
    )
    union all
    select (
        select t.customer from forebay.tasks as t
        where t.customer > n.customer
        order by t.customer
        limit 1
    )
    from names as n
    where n.customer is not null
)

select n.customer from names as n
where n.customer is not null;
$function$;

comment on function forebay._customers_with_tasks is
'The customers that any task has: from one name to the next in the index, whatever number of tasks lies between them.';
