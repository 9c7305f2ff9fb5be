create or replace function forebay._reservation(p_agent forebay.agents, p_now timestamptz)
    returns forebay.fit
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the task waits for that nobody in the agent's line passes, when nothing of the line may start; reason null: no such task.
declare
    v_task forebay.lined_up;
    v_fit  forebay.fit;
begin
    foreach v_task in array forebay._line(p_agent, 101, null, p_now, false) loop
        if v_task.waited >= p_agent.reserve_after then
            v_fit := forebay._fitting(p_agent, array[v_task], 1, p_now);
            if v_fit.reason <> 'spend_cap' then
                return v_fit;
            end if;
        end if;
    end loop;
    return null;
end;
$function$;

comment on function forebay._reservation is
'What the task waits for that nobody in the agent''s line passes, when nothing of the line may start; reason null: no such task.';
