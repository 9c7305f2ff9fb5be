create or replace function forebay._get_agent(p_agent text)
    returns forebay.agents
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent of that name, to the letter: the copy of p_agent is compared by the default collation.
--
-- Errors  22023  p_agent is null
--         QF301  there is none
declare
    v_name  text := p_agent;
    v_agent forebay.agents;
begin
    if p_agent is null then
        raise exception 'p_agent must not be null' using errcode = '22023';
    end if;
    select a.* into v_agent from forebay.agents as a where a.agent = v_name;
    if not found then
        raise exception 'agent "%" does not exist', left(p_agent, 200)
            using errcode = 'QF301', hint = 'Register it with forebay.register_agent, or see forebay.agent_status().';
    end if;
    return v_agent;
end;
$function$;

comment on function forebay._get_agent is 'The agent of that name, to the letter: the copy of p_agent is compared by the default collation.';
