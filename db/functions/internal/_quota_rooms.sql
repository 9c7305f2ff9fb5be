create or replace function forebay._quota_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit of the agent's quotas is left to new tasks, at several moments of its period.
begin
    return;
end;
$function$;

comment on function forebay._quota_rooms is 'How much of each limit of the agent''s quotas is left to new tasks, at several moments of its period.';
