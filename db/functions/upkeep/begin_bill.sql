create or replace function forebay.begin_bill(p_source text default 'billing', p_overlap interval default '3 days')
    returns forebay.bill_reading
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which rows of a bill are to be read: those that came since it was read last, and for p_overlap before.
--
-- When it was never read, those since the first run that a launcher outside the driver started. Having recorded all of
-- them, call record_compute_usage with began_at as p_as_of; until then pass a time of before.
--
-- Returns    one row; day, in UTC, is null when there is no run that a bill may tell of
-- Errors     22023  p_source has not 1 to 200 characters, or p_overlap is null or negative
-- Called by  forebay_upkeep
declare
    v_now     timestamptz := forebay._now();
    v_reading forebay.bill_reading;
begin
    if p_source is null or char_length(p_source) not between 1 and 200 then
        raise exception 'p_source must have 1 to 200 characters' using errcode = '22023';
    end if;
    if p_overlap is null or p_overlap < interval '0' then
        raise exception 'p_overlap must not be negative' using errcode = '22023';
    end if;
    select forebay._utc_day(min(a.started_at) - p_overlap) into v_reading.day
    from forebay.task_attempts as a
    where a.run_id is not null and forebay._is_external(a.launcher);
    v_reading.day := greatest(v_reading.day, (
        select forebay._utc_day(least(s.as_of, v_now) - p_overlap)
        from forebay.compute_sources as s
        where s.source = p_source and v_reading.day is not null
    ));
    v_reading.began_at := v_now;
    v_reading.settled_until := v_now - (forebay._limits()).billing_latency;
    return v_reading;
end;
$function$;

comment on function forebay.begin_bill is 'Say which rows of a bill are to be read: those that came since it was read last, and for p_overlap before.';
