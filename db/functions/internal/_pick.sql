create or replace function forebay._pick(
    p_agent forebay.agents,
    p_limit integer,
    p_floor integer,
    p_now   timestamptz,
    p_locks boolean
)
    returns forebay.lined_up[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks that may start now, in order, p_limit of them at most, of priority p_floor and more (null: any).
--
-- Where not all of the first p_limit in line fit, 100 more are looked at, and customers whose cap is reached, or leaves too
-- little for their next task, stand aside: however many tasks of theirs wait, they hide no others.
--
-- Locks  with p_locks those that were looked at, without waiting
declare
    v_is_weighed boolean := forebay._is_weighed(p_agent);
    v_learned    forebay.learned := case when v_is_weighed then forebay._learned(p_agent.agent) end;
    v_line       forebay.lined_up[];
    v_fit        forebay.fit;
    v_aside      text[];
    v_short      text[] := array[]::text[];
begin
    v_line := forebay._line(p_agent, p_limit, p_floor, p_now, p_locks, v_learned, array[]::text[]);
    if v_line = '{}' or not v_is_weighed then
        return v_line;
    end if;
    v_fit := forebay._fitting(p_agent, v_line, p_limit, p_now, v_learned);
    if v_fit.reason is not null and cardinality(v_line) = p_limit then
        v_aside := forebay._capped_customers(p_now);
        loop
            v_aside := v_aside || v_short;
            v_line := forebay._line(p_agent, p_limit + 100, p_floor, p_now, p_locks, v_learned, v_aside);
            v_fit := forebay._fitting(p_agent, v_line, p_limit, p_now, v_learned);
            exit when cardinality(v_fit.places) = p_limit or cardinality(v_line) < p_limit + 100;
            v_short := forebay._short_customers(p_agent, v_line, v_fit.places, p_now);
            exit when v_short = '{}';
        end loop;
    end if;
    return array(select v_line[places.place] from unnest(v_fit.places) with ordinality as places (place, n) order by places.n);
end;
$function$;

comment on function forebay._pick is 'The tasks that may start now, in order, p_limit of them at most, of priority p_floor and more (null: any).';
