create or replace function forebay._lock_definition(p_agent text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock an agent, or every one (p_agent null) by name, against admissions: it waits for those that are under way.
declare
    v_agent text;
begin
    for v_agent in
        select p_agent where p_agent is not null
        union all
        (select a.agent from forebay.agents as a where p_agent is null order by a.agent)
    loop
        perform pg_advisory_xact_lock(forebay._agent_key(v_agent));
    end loop;
    perform 1 from forebay.agent_budgets as b
    where p_agent is null or b.agent = p_agent
    order by b.agent
    for no key update;
end;
$function$;

comment on function forebay._lock_definition is 'Lock an agent, or every one (p_agent null) by name, against admissions: it waits for those that are under way.';
