create or replace function forebay._next_round(p_agents text[], p_launchers text[], p_except text[])
    returns forebay.serving_round
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agents whose turn it is: those whose best waiting priority is highest, in random order; null agents when none is left.
--
-- Returns  floor: the priority down to which they are served before others come; null when nobody else waits
declare
    v_round forebay.serving_round;
begin
    with candidates as materialized (
        select c.agent, c.priority
        from forebay._candidates(p_agents, p_launchers) as c
        where c.agent <> all(p_except)
    ), best as (
        select max(c.priority) as priority from candidates as c
    ), rest as (
        select max(c.priority) as priority from candidates as c, best where c.priority < best.priority
    )
    select
        array_agg(c.agent order by random()),
        case when count(*) > 1 then best.priority else rest.priority + 1 end,
        count(*) = 1 and rest.priority is null
    into v_round
    from candidates as c
    inner join best on best.priority = c.priority
    cross join rest
    group by best.priority, rest.priority;
    return v_round;
end;
$function$;

comment on function forebay._next_round is 'The agents whose turn it is: those whose best waiting priority is highest, in random order; null agents when none is left.';
