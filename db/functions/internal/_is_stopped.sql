create or replace function forebay._is_stopped(p_agent forebay.agents, p_at timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether nothing of the agent starts, whatever waits and is free: it is paused, or held up. It is as _get_effective says.
begin
    return coalesce(p_agent.paused_until > p_at, false) or forebay._is_held_up(p_agent, p_at);
end;
$function$;

comment on function forebay._is_stopped is 'Whether nothing of the agent starts, whatever waits and is free: it is paused, or held up. It is as _get_effective says.';
