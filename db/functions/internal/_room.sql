create or replace function forebay._room(p_agent forebay.agents, p_now timestamptz)
    returns integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many more tasks the agent may have processing: by concurrency, and by claims a minute.
--
-- A limit of 0 admits nothing, max_tpm's included.
declare
    v_slots    bigint;
    v_requests numeric;
begin
    if p_agent.max_tpm = 0 or p_agent.max_rpm = 0 or p_agent.max_concurrent_tasks = 0 then
        return 0;
    end if;
    if p_agent.max_concurrent_tasks is not null then
        v_slots := p_agent.max_concurrent_tasks - forebay._in_use(p_agent.agent, p_agent.max_concurrent_tasks);
    end if;
    if p_agent.max_rpm is not null then
        v_requests := floor((forebay._levels(p_agent, p_now)).requests);
    end if;
    return greatest(0, least(v_slots, v_requests, 2147483647))::integer;
end;
$function$;

comment on function forebay._room is 'How many more tasks the agent may have processing: by concurrency, and by claims a minute.';
