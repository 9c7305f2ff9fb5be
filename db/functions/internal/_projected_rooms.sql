create or replace function forebay._projected_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit is left to new tasks of an agent whose calls cannot be held back, at several moments of its period.
--
-- The room at a moment is what the limit has then, with the calls that will still count, less what the tasks in flight
-- will have used by then; of open calls each task in flight counts as one.
--
-- Returns  one row a limit and moment, at 1/12, 1/4, 1/2 and 1 of the period; for concurrent_calls one, at 0 seconds
begin
    return query
    with flight as materialized (
        select f.* from forebay._in_flight(p_agent.quotas) as f
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, l.room >= l.capacity and uses.attempts = 0,
        ahead.seconds::double precision,
        (case l.kind
            when 'count' then l.effective - uses.attempts
            when 'bucket' then least(l.capacity, l.room + l.effective * moments.part) - uses.amount
            else l.effective - uses.amount - forebay._window_used(
                l.quota, l.unit, l.period, p_now, make_interval(secs => ahead.seconds::double precision)
            )
        end)::double precision
    from forebay._quota_limits(p_agent.quotas, p_now) as l
    inner join (values (0.0), (1.0 / 12), (0.25), (0.5), (1.0)) as moments (part) on (moments.part = 0) = (l.kind = 'count')
    cross join lateral (select extract(epoch from l.period) * moments.part as seconds) as ahead
    cross join lateral (
        select
            count(*) as attempts,
            coalesce(sum(
                forebay._in_unit(l.unit, f.calls, f.input_tokens, f.output_tokens) * coalesce(least(1, f.pace * ahead.seconds), 1)
            ), 0) as amount
        from flight as f
        where l.quota = any(f.quotas)
    ) as uses;
end;
$function$;

comment on function forebay._projected_rooms is 'How much of each limit is left to new tasks of an agent whose calls cannot be held back, at several moments of its period.';
