create or replace function forebay._free_at(
    p_quota   text,
    p_unit    text,
    p_period  interval,
    p_rate    numeric,
    p_missing numeric,
    p_now     timestamptz
)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- When a limit will have so much more room if nothing else happens: as slots leave the window, or at p_rate a second.
--
-- Returns  null where that is not known: the room of open calls comes with their reports
begin
    if p_period = '0' then
        return null;
    elsif p_rate is not null then
        return p_now + make_interval(secs => least(p_missing / nullif(p_rate, 0), 3155760000)::double precision);
    end if;
    return (
        select min(passing.slot_at) + forebay._window_length(p_period)
        from (
            select s.slot_at, sum(s.used) over (order by s.slot_at) as freed
            from forebay.quota_slots as s
            where s.quota = p_quota and s.unit = p_unit and s.period = p_period
                and s.slot_at > p_now - forebay._window_length(p_period)
        ) as passing
        where passing.freed >= p_missing
    );
end;
$function$;

comment on function forebay._free_at is 'When a limit will have so much more room if nothing else happens: as slots leave the window, or at p_rate a second.';
