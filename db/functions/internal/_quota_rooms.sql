create or replace function forebay._quota_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit of the agent's quotas is left to new tasks, at several moments of its period.
--
-- At each moment: what the limit has then, with the calls that will still count, less what the tasks in flight will have
-- used by then.
--
-- Where the agent asks before its calls, the calls keep the limits by themselves, and a claim only keeps them supplied:
-- tasks for twice what a whole period has may be in flight, so that there is always a call that waits.
--
-- Returns  one row a limit and moment, at 1/12, 1/4, 1/2 and 1 of the period; for concurrent_calls one row, now
declare
    v_asks boolean := (forebay._learned(p_agent.agent)).asks_first or exists (
        select from forebay.task_attempts as a where a.agent = p_agent.agent and a.finished_at is null and a.asks_first
    );
begin
    if p_agent.quotas = '{}' then
        return;
    end if;
    return query
    with flight as materialized (
        select g.quotas, f.unused, f.share_per_second
        from forebay.agents as g
        cross join lateral forebay._in_flight(array[g.agent]) as f
        where g.quotas && p_agent.quotas
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, l.room >= l.capacity and tasks.in_flight = 0,
        at.seconds::double precision,
        (case
            when v_asks then 2 * l.effective
            when l.kind = 'window' then
                l.effective - forebay._window_used(l.quota, l.unit, l.period, p_now, make_interval(secs => at.seconds::double precision))
            when l.kind = 'bucket' then least(l.capacity, l.room + l.effective * at.part)
            else l.effective
        end - tasks.uses)::double precision
    from forebay._quota_limits(p_agent.quotas, p_now) as l
    cross join lateral (
        select moments.part, extract(epoch from l.period) * moments.part as seconds
        from (values (1.0 / 12), (0.25), (0.5), (1.0)) as moments (part)
        where moments.part = 1 or (not v_asks and l.kind <> 'count')
    ) as at
    cross join lateral (
        select
            count(*) as in_flight,
            coalesce(sum(forebay._projected(l.unit, f.unused, f.share_per_second, at.seconds)), 0) as uses
        from flight as f
        where l.quota = any(f.quotas)
    ) as tasks;
end;
$function$;

comment on function forebay._quota_rooms is 'How much of each limit of the agent''s quotas is left to new tasks, at several moments of its period.';
