create or replace function forebay._projected_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit is left to new tasks of an agent whose calls cannot be held back, now and at moments of its period.
--
-- Now: beside the first calls of those claimed before. At a moment: what the limit has then, with the calls that will
-- still count, less what the tasks in flight will have used by then. Of open calls each task in flight counts as one.
--
-- Returns  one row a limit and moment, at 0, 1/12, 1/4, 1/2 and 1 of the period; for concurrent_calls one, at 0
begin
    return query
    with flight as materialized (
        select f.* from forebay._in_flight(p_agent.quotas) as f
    ), calls as materialized (
        select c.* from forebay._calls_to_come(p_agent.quotas, p_now) as c
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, l.room >= l.capacity and uses.attempts = 0,
        ahead.seconds,
        (case
            when l.kind = 'count' then l.effective - uses.attempts
            when moments.part = 0 then l.room - (
                select coalesce(sum(forebay._in_unit(l.unit, 1, c.input_tokens, c.output_tokens)), 0)
                from calls as c
                where l.quota = any(c.quotas)
            )
            when l.kind = 'bucket' then least(l.capacity, l.room + l.effective * moments.part) - uses.amount
            else l.effective - uses.amount - forebay._window_used(
                l.quota, l.unit, l.period, p_now, make_interval(secs => ahead.seconds)
            )
        end)::double precision
    from forebay._quota_limits(p_agent.quotas, p_now) as l
    inner join (values (0.0), (1.0 / 12), (0.25), (0.5), (1.0)) as moments (part) on moments.part = 0 or l.kind <> 'count'
    cross join lateral (select (extract(epoch from l.period) * moments.part)::double precision as seconds) as ahead
    cross join lateral (
        select
            count(*) as attempts,
            coalesce(sum(forebay._within(
                forebay._in_unit(l.unit, f.calls, f.input_tokens, f.output_tokens),
                f.input_tokens + f.output_tokens, f.pace, ahead.seconds
            )), 0) as amount
        from flight as f
        where l.quota = any(f.quotas)
    ) as uses;
end;
$function$;

comment on function forebay._projected_rooms is 'How much of each limit is left to new tasks of an agent whose calls cannot be held back, now and at moments of its period.';
