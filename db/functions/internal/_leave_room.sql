create or replace function forebay._leave_room(
    p_agent forebay.agents,
    p_head  forebay.lined_up,
    p_rooms forebay.quota_room[],
    p_now   timestamptz
)
    returns forebay.quota_room[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the rooms of the agent's quotas are without what the first tasks of other agents' lines hold there.
--
-- A first task that has waited its agent's reserve_after holds what it needs, against all agents whose own first task is not
-- as far beyond its reserve_after; so small tasks of one agent do not starve a large one of another. It holds it for ten
-- minutes, and only while nothing but a quota stops it: an agent that nobody serves keeps the others waiting no longer.
declare
    v_rooms forebay.quota_room[] := p_rooms;
    v_own   interval := coalesce(p_head.waited - p_agent.reserve_after, interval '-1');
    v_late  interval;
    v_other forebay.agents;
    v_first forebay.lined_up;
begin
    for v_other in
        select e.*
        from forebay.agents as a
        cross join lateral forebay._get_effective(a.agent, p_now) as e
        where a.agent <> p_agent.agent and a.quotas && p_agent.quotas
    loop
        continue when forebay._is_stopped(v_other, p_now) or forebay._room(v_other, p_now) = 0;
        v_first := (forebay._line(v_other, 1, null, p_now, false))[1];
        v_late := v_first.waited - v_other.reserve_after;
        if v_late >= interval '0' and v_late > v_own and v_late < interval '10 minutes'
            and cardinality((forebay._fitting(forebay._without_quotas(v_other), array[v_first], 1, p_now)).places) = 1
        then
            v_rooms := forebay._take_room(
                v_rooms, v_other.quotas, v_first.uses, (forebay._learned(v_other.agent)).tokens_per_second::double precision
            );
        end if;
    end loop;
    return v_rooms;
end;
$function$;

comment on function forebay._leave_room is 'What the rooms of the agent''s quotas are without what the first tasks of other agents'' lines hold there.';
