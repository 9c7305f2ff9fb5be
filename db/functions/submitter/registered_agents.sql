create or replace function forebay.registered_agents(p_agents text[])
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which of these agents are there to be given tasks.
--
-- Returns    the names of p_agents that are registered, each once, in the order given
-- Errors     22023  p_agents is null
-- Called by  forebay_submitter
begin
    if p_agents is null then
        raise exception 'p_agents must not be null' using errcode = '22023';
    end if;
    return query
    select a.agent
    from unnest(p_agents) with ordinality as names (agent, place)
    inner join forebay.agents as a on a.agent = names.agent
    group by a.agent
    order by min(names.place);
end;
$function$;

comment on function forebay.registered_agents is 'Say which of these agents are there to be given tasks.';
