create or replace function forebay.begin_bill(
    p_source   text default 'billing',
    p_overlap  interval default '3 days',
    p_settings text default null
)
    returns forebay.bill_reading
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which rows of a bill are to be read: those that came since it was read last, and for p_overlap before.
--
-- When it was never read, or read last with other p_settings, those since the first run that a launcher outside the driver
-- started. shared_days are those of which what is shared has no price, or is not final: they are read again as well, as are
-- the runs of runs_to_bill. Record what all of them tell with record_bill, batch_size records at once, and then call end_bill,
-- each with began_at: until then the next reading begins where this one did.
--
-- Returns    one row; day, in UTC, is null when there is no run that a bill may tell of
-- Errors     22023  p_source has not 1 to 200 characters, or p_overlap is null or negative
-- Called by  forebay_upkeep
declare
    v_now     timestamptz := forebay._now();
    v_limits  forebay.installation := forebay._limits();
    v_reading forebay.bill_reading;
begin
    perform forebay._require_source(p_source);
    if p_overlap is null or p_overlap < interval '0' then
        raise exception 'p_overlap must not be negative' using errcode = '22023';
    end if;
    select forebay._utc_day(min(a.started_at) - p_overlap) into v_reading.day
    from forebay.task_attempts as a
    where a.run_id is not null and forebay._is_external(a.launcher);
    v_reading.day := greatest(v_reading.day, (
        select forebay._utc_day(least(s.as_of, v_now) - p_overlap)
        from forebay.compute_sources as s
        where s.source = p_source and s.as_of is not null and s.settings is not distinct from p_settings
            and v_reading.day is not null
    ));
    v_reading.began_at := v_now;
    v_reading.settled_until := v_now - v_limits.billing_latency;
    v_reading.shared_days := array(
        select distinct forebay._utc_day(u.started_at)
        from forebay.compute_usage as u
        where u.source = p_source and u.product is not null and u.started_at is not null and not u.is_final
        order by 1
    );
    v_reading.batch_size := v_limits.max_batch_size;
    return v_reading;
end;
$function$;

comment on function forebay.begin_bill is 'Say which rows of a bill are to be read: those that came since it was read last, and for p_overlap before.';
