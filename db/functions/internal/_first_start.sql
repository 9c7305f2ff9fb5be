create or replace function forebay._first_start(
    p_task     forebay.tasks,
    p_now      timestamptz,
    p_from     timestamptz,
    p_is_alone boolean
)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first moment after p_from, within 34 years of p_now, at which _may_start says yes; null when there is none.
--
-- It is asked at moments further and further ahead, and between the last no and the first yes the moment is halved out, to
-- the microsecond.
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_now);
    v_no    timestamptz := p_from;
    v_yes   timestamptz;
    v_half  timestamptz;
begin
    for v_yes in
        select distinct m.at from (
            select p_now + make_interval(secs => 4.0 ^ n) as at from generate_series(-1, 15) as n
            union all
            select unnest(array[
                p_task.available_at, v_agent.paused_until, date_trunc('day', p_now, 'UTC') + interval '24 hours'
            ])
        ) as m
        where m.at > p_from and m.at < 'infinity'
        order by m.at
    loop
        if forebay._may_start(p_task, v_yes, p_is_alone) then
            loop
                v_half := v_no + make_interval(secs => extract(epoch from v_yes - v_no)::double precision / 2);
                exit when v_half in (v_no, v_yes);
                if forebay._may_start(p_task, v_half, p_is_alone) then
                    v_yes := v_half;
                else
                    v_no := v_half;
                end if;
            end loop;
            return v_yes;
        end if;
        v_no := v_yes;
    end loop;
    return null;
end;
$function$;

comment on function forebay._first_start is
'The first moment after p_from, within 34 years of p_now, at which _may_start says yes; null when there is none.';
