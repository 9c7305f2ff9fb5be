create or replace function forebay._waiting_priorities(p_agent text)
    returns setof integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The priorities of the tasks in the agent's line, each once, highest first; the index is entered anew for each.
declare
    v_priority integer := 32768;
begin
    loop
        select max(t.priority)::integer into v_priority
        from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.priority < v_priority;
        exit when v_priority is null;
        return next v_priority;
    end loop;
end;
$function$;

comment on function forebay._waiting_priorities is 'The priorities of the tasks in the agent''s line, each once, highest first; the index is entered anew for each.';
