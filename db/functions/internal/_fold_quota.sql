create or replace function forebay._fold_quota(p_quota text, p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add the quota's settlements to its ledger, each to the slot of its call; the caller holds the quota's lock.
--
-- What has left a window already is dropped. A bucket's level is brought to p_now.
--
-- Writes  forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements
begin
    if not exists (select from forebay.quota_settlements as s where s.quota = p_quota) then
        return;
    end if;
    -- One statement: what the levels contain is what is deleted.
    with levels as materialized (
        select l.unit, l.period, l.room
        from forebay._quota_limits(
            array(select b.quota from forebay.quota_limits as b where b.quota = p_quota and b.kind = 'bucket'), p_now
        ) as l
    ), gone as (
        delete from forebay.quota_settlements as s
        where s.quota = p_quota
        returning s.called_at, s.requests, s.input_tokens, s.output_tokens
    ), windows as (
        insert into forebay.quota_slots as s (quota, unit, period, slot_at, used)
        select
            l.quota, l.unit, l.period, forebay._slot_at(l.period, g.called_at) as slot_at,
            sum(forebay._in_unit(l.unit, g.requests, g.input_tokens, g.output_tokens)) as used
        from forebay.quota_limits as l
        cross join gone as g
        where l.quota = p_quota and l.kind = 'window' and g.called_at >= l.since
            and forebay._slot_at(l.period, g.called_at) > p_now - forebay._window_length(l.period)
        group by l.quota, l.unit, l.period, forebay._slot_at(l.period, g.called_at)
        on conflict (quota, unit, period, slot_at) do update set used = greatest(0, s.used + excluded.used)
    )
    update forebay.quota_limits as l
    set level = v.room, refilled_at = greatest(p_now, l.refilled_at)
    from levels as v
    where l.quota = p_quota and l.unit = v.unit and l.period = v.period and l.kind = 'bucket';
end;
$function$;

comment on function forebay._fold_quota is 'Add the quota''s settlements to its ledger, each to the slot of its call; the caller holds the quota''s lock.';
