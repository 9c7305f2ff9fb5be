create or replace function forebay._quota_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit of the agent's quotas is left to new tasks, now or at several moments of its period.
--
-- Where the agent asks before its calls, these keep the limits by themselves, and a claim only keeps them supplied: there
-- is room for a task while its first call finds room beside the calls that wait and the first calls of those claimed
-- before it, and a tenth of the limit more, so that always a call waits. What a task uses later does not matter.
--
-- Else the task's own calls cannot be held back. Then the room at a moment is what the limit has then, with the calls that
-- will still count, less what the tasks in flight will have used by then; of open calls each task in flight counts as one.
--
-- Returns  one row a limit, at 0 seconds; or, where the agent does not ask, at 1/12, 1/4, 1/2 and 1 of the period
declare
    v_asks boolean := p_agent.quotas <> '{}' and ((forebay._learned(p_agent.agent)).asks_first or exists (
        select from forebay.task_attempts as a where a.agent = p_agent.agent and a.finished_at is null and a.asks_first
    ));
begin
    if p_agent.quotas = '{}' then
        return;
    end if;
    return query
    with limits as materialized (
        select
            l.*, extract(epoch from l.period) as seconds, flight.attempts, flight.asking, flight.unused, flight.per_second
        from forebay._quota_limits(p_agent.quotas, p_now) as l
        cross join lateral (
            select
                count(*) as attempts, coalesce(sum(f.asking), 0) as asking,
                coalesce(array_agg(f.unused), '{}') as unused, coalesce(array_agg(f.per_second), '{}') as per_second
            from forebay._in_flight(l.quota, l.unit) as f
        ) as flight
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, l.room >= l.capacity and l.attempts = 0,
        (l.seconds * moments.part)::double precision,
        (case
            when v_asks then l.room + greatest(0.1 * l.effective, least(1, l.effective)) - l.asking
            when l.kind = 'count' then l.effective - l.attempts
            when l.kind = 'bucket' then least(l.capacity, l.room + l.effective * moments.part) - projected.uses
            else l.effective - projected.uses - forebay._window_used(
                l.quota, l.unit, l.period, p_now, make_interval(secs => (l.seconds * moments.part)::double precision)
            )
        end)::double precision
    from limits as l
    cross join (values (0.0), (1.0 / 12), (0.25), (0.5), (1.0)) as moments (part)
    cross join lateral (
        select coalesce(sum(coalesce(least(f.unused, f.per_second * l.seconds * moments.part), f.unused)), 0) as uses
        from unnest(l.unused, l.per_second) as f (unused, per_second)
    ) as projected
    where (moments.part = 0) = (v_asks or l.kind = 'count');
end;
$function$;

comment on function forebay._quota_rooms is 'How much of each limit of the agent''s quotas is left to new tasks, now or at several moments of its period.';
