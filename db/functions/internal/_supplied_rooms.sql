create or replace function forebay._supplied_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit is left to new tasks of an agent that asks before its calls.
--
-- The calls keep the limits by themselves, and a claim only keeps them supplied: there is room for a task while its first
-- call finds room beside the calls that wait and the first calls of those claimed before it, and more: a tenth of the
-- limit, or what comes back in a minute if the period is longer than that; and for one whatever its size while none waits.
-- So always a call waits, but few for an hour, and what a task uses later does not matter.
--
-- Returns  one row a limit, at 0 seconds
begin
    return query
    with calls as materialized (
        select c.* from forebay._calls_to_come(p_agent.quotas, p_now) as c
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, ahead.needs = 0, 0::double precision,
        (l.room + greatest(
            0.1 * l.effective * least(1, 60 / greatest(extract(epoch from l.period), 1)), least(1, l.effective)
        ) - ahead.needs)::double precision
    from forebay._quota_limits(p_agent.quotas, p_now) as l
    cross join lateral (
        select coalesce(sum(forebay._in_unit(l.unit, 1, c.input_tokens, c.output_tokens)), 0) as needs
        from calls as c
        where l.quota = any(c.quotas)
    ) as ahead;
end;
$function$;

comment on function forebay._supplied_rooms is 'How much of each limit is left to new tasks of an agent that asks before its calls.';
