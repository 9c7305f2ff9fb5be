create or replace function forebay.agent_names()
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The names of all agents: what a list offers to choose from, where agent_status would add up more than is shown.
--
-- Returns    one row an agent, by name
-- Called by  forebay_viewer
begin
    return query select a.agent from forebay.agents as a order by a.agent;
end;
$function$;

comment on function forebay.agent_names is
'The names of all agents: what a list offers to choose from, where agent_status would add up more than is shown.';
