create or replace function forebay.register_quota(
    p_quota    text,
    p_limits   jsonb,
    p_headroom numeric default 0.01,
    p_reason   text default null,
    p_actor    text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Define a provider's quota, or define it anew, with all its limits; agents draw on it by its name.
--
-- p_limits is an array of objects: unit (requests, tokens, input_tokens, output_tokens or concurrent_calls), amount (a
-- whole number; 0 lets nothing through), per (second, minute, hour, day, or an interval from 1 second to 1 day; not for
-- concurrent_calls), kind (window, the default: strictly so much within any period; or bucket: refills continuously) and
-- burst (what a full bucket holds, as a factor of the amount; default 0.8). An empty array limits nothing. Keys that are
-- not known are ignored. p_headroom is the share of each window that is left unused. A limit that stays, by unit, period
-- and kind, keeps its ledger, a level cut to the new burst; a new one starts unused. Calls that were granted go on.
--
-- Writes     forebay.quotas, forebay.quota_limits, forebay.quota_slots, forebay.audit_log
-- Locks      the quota: it waits for calls and claims under way
-- Errors     22023  an argument is out of its range, a key is missing or of a wrong type, or two limits have the same unit and period
-- Called by  forebay_operator
declare
    v_limits forebay.quota_limits[];
    v_now    timestamptz;
begin
    if p_quota is null or char_length(p_quota) not between 1 and 200 then
        raise exception 'p_quota must have 1 to 200 characters' using errcode = '22023';
    end if;
    if p_headroom is null or not (p_headroom >= 0 and p_headroom < 1) then
        raise exception 'p_headroom must be at least 0 and below 1' using errcode = '22023';
    end if;
    v_limits := forebay._parse_limits(p_quota, p_limits);

    perform 1 from forebay.quotas as q where q.quota = p_quota for no key update;
    v_now := forebay._now();
    perform forebay._fold_quota(p_quota, v_now);
    update forebay.quota_limits as l
    set level = now.room, refilled_at = v_now
    from forebay._quota_limits(array[p_quota], v_now) as now
    where l.quota = p_quota and l.unit = now.unit and l.period = now.period and l.kind = 'bucket';
    insert into forebay.quotas as q (quota, headroom, created_at, updated_at)
    values (p_quota, p_headroom, v_now, v_now)
    on conflict (quota) do update set headroom = excluded.headroom, updated_at = excluded.updated_at;

    delete from forebay.quota_limits as l
    where l.quota = p_quota and not exists (
        select from unnest(v_limits) as n where (n.unit, n.period, n.kind) = (l.unit, l.period, l.kind)
    );
    insert into forebay.quota_limits as l (quota, unit, period, kind, amount, burst, level, refilled_at, since)
    select n.quota, n.unit, n.period, n.kind, n.amount, n.burst, n.burst, v_now, v_now from unnest(v_limits) as n
    on conflict (quota, unit, period) do update
    set amount = excluded.amount, burst = excluded.burst, level = least(l.level, excluded.burst);
    perform forebay._audit(
        'register_quota', null, null, p_reason, p_actor,
        jsonb_build_object('quota', p_quota, 'limits', p_limits, 'headroom', p_headroom)
    );
end;
$function$;

comment on function forebay.register_quota is 'Define a provider''s quota, or define it anew, with all its limits; agents draw on it by its name.';
