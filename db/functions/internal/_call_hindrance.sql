create or replace function forebay._call_hindrance(
    p_attempt   forebay.task_attempts,
    p_quotas    text[],
    p_input     bigint,
    p_output    bigint,
    p_now       timestamptz,
    out quota   text,
    out unit    text,
    out period  interval,
    out needs   numeric,
    out room    numeric,
    out calls   bigint,
    out free_at timestamptz
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The limit that lets a call go last of those that do not let it go now; null when all do.
--
-- A limit lets it go where there is room for it and for the reserved calls before it. A call larger than all that a limit
-- has goes alone, when the limit is idle.
--
-- Returns  free_at: when it will fit if nothing else happens, after the calls that are expected to go first. So each
--          waiting call has a moment of its own, when a slot has left the window, and they do not all wake at once
begin
    select l.quota, l.unit, l.period, of_limit.needs, l.room, ahead.calls, of_time.free_at
    into quota, unit, period, needs, room, calls, free_at
    from forebay._quota_limits(p_quotas, p_now) as l
    cross join lateral (select forebay._in_unit(l.unit, 1, p_input, p_output) as needs) as of_limit
    cross join lateral forebay._calls_ahead(p_attempt, l.quota, l.unit, l.period, of_limit.needs, p_now) as ahead
    cross join lateral (
        select case when l.capacity > 0 then forebay._free_at(
            l.quota, l.unit, l.period, case l.kind when 'bucket' then l.effective / extract(epoch from l.period) end,
            least(of_limit.needs + ahead.before, l.capacity) - l.room, p_now
        ) else 'infinity' end as free_at
    ) as of_time
    where of_limit.needs > 0 and of_limit.needs + ahead.reserved > l.room and not (
        of_limit.needs > l.capacity and l.room >= l.capacity and l.capacity > 0 and ahead.reserved = 0
    )
    order by of_time.free_at desc nulls last, l.quota, l.unit, l.period
    limit 1;
end;
$function$;

comment on function forebay._call_hindrance is 'The limit that lets a call go last of those that do not let it go now; null when all do.';
