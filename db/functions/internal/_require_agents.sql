create or replace function forebay._require_agents(p_agents text[])
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every name in p_agents is an agent's; null asks for nothing.
--
-- Errors  22023  a name is null
--         QF301  there is no such agent
declare
    v_name text;
begin
    if p_agents is null then
        return;
    end if;
    foreach v_name in array p_agents loop
        if v_name is null then
            raise exception 'p_agents must not hold null' using errcode = '22023';
        end if;
        perform forebay._get_agent(v_name);
    end loop;
end;
$function$;

comment on function forebay._require_agents is 'Check that every name in p_agents is an agent''s; null asks for nothing.';
