create or replace function forebay._starts_at(p_task forebay.tasks, p_now timestamptz)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The earliest moment within 34 years at which a dequeue would take the task if nothing else changes; null when there is none.
--
-- No formula: the rule itself is asked at moments that lie further and further ahead, and between the last no and the first
-- yes the moment is halved out, to the microsecond. What time alone brings (a pause that ends, a bucket that refills, a
-- window that moves on, the next day) never takes room away.
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_now);
    v_no    timestamptz := p_now;
    v_yes   timestamptz;
    v_half  timestamptz;
begin
    for v_yes in
        select distinct m.at from (
            select p_now + make_interval(secs => 4.0 ^ n) as at from generate_series(-1, 15) as n
            union all
            select unnest(array[p_task.available_at, v_agent.paused_until, date_trunc('day', p_now, 'UTC') + interval '24 hours'])
        ) as m
        where m.at > p_now and m.at < 'infinity'
        order by m.at
    loop
        if forebay._may_start(p_task, v_yes) then
            loop
                v_half := v_no + make_interval(secs => extract(epoch from v_yes - v_no)::double precision / 2);
                exit when v_half in (v_no, v_yes);
                if forebay._may_start(p_task, v_half) then
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

comment on function forebay._starts_at is
'The earliest moment within 34 years at which a dequeue would take the task if nothing else changes; null when there is none.';
