create or replace function forebay._reservation(p_agent forebay.agents, p_now timestamptz)
    returns forebay.fit
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the task waits for that nobody in the agent's line passes, when nothing of the line may start; reason null: no such task.
declare
    v_line forebay.lined_up[] := forebay._line(p_agent, 101, null, p_now, false);
    v_fit  forebay.fit;
begin
    v_line := array(select l from unnest(v_line) as l where l.waited >= p_agent.reserve_after);
    loop
        v_fit := forebay._fitting(p_agent, v_line, 1, p_now);
        exit when v_fit.reason is distinct from 'spend_cap';
        v_line := array(select l from unnest(v_line) as l where l.task_id <> v_fit.task_id);
    end loop;
    return v_fit;
end;
$function$;

comment on function forebay._reservation is
'What the task waits for that nobody in the agent''s line passes, when nothing of the line may start; reason null: no such task.';
