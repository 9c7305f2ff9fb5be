create or replace function forebay._boosted(p_tasks forebay.tasks[])
    returns forebay.tasks[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks with their customers' priority boosts added; a priority stays within a smallint.
declare
    v_tasks  forebay.tasks[] := p_tasks;
    v_boosts jsonb := (
        select jsonb_object_agg(c.customer, c.priority_boost)
        from forebay.customers as c
        where c.priority_boost <> 0 and c.customer in (select t.customer from unnest(p_tasks) as t)
    );
begin
    if v_boosts is null then
        return p_tasks;
    end if;
    for v_at in 1 .. cardinality(v_tasks) loop
        if v_boosts ? v_tasks[v_at].customer then
            v_tasks[v_at].priority := greatest(-32768, least(
                32767, v_tasks[v_at].priority + (v_boosts ->> v_tasks[v_at].customer)::integer
            ));
        end if;
    end loop;
    return v_tasks;
end;
$function$;

comment on function forebay._boosted is 'The tasks with their customers'' priority boosts added; a priority stays within a smallint.';
