create or replace function forebay._is_held_up(p_agent forebay.agents, p_at timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether the agent's job takes no run: three of its launches fail and are tried again. What is claimed would wait with them.
--
-- One or two may fail for a reason of their own, and others pass them.
begin
    return forebay._is_external(p_agent.launcher) and (
        select count(*) = 3 from (select from forebay._failing_launches(p_agent, p_at) limit 3) as failing
    );
end;
$function$;

comment on function forebay._is_held_up is
'Whether the agent''s job takes no run: three of its launches fail and are tried again. What is claimed would wait with them.';
