create or replace function forebay._quota_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit of the agent's quotas is left to new tasks, by whether the agent asks before its calls.
--
-- It does when its recent attempts did, or when one in flight has asked.
begin
    if p_agent.quotas = '{}' then
        return;
    elsif (forebay._learned(p_agent.agent)).asks_first or exists (
        select from forebay.task_attempts as a where a.agent = p_agent.agent and a.finished_at is null and a.asks_first
    ) then
        return query select r.* from forebay._supplied_rooms(p_agent, p_now) as r;
    else
        return query select r.* from forebay._projected_rooms(p_agent, p_now) as r;
    end if;
end;
$function$;

comment on function forebay._quota_rooms is 'How much of each limit of the agent''s quotas is left to new tasks, by whether the agent asks before its calls.';
