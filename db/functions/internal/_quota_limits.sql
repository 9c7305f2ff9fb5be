create or replace function forebay._quota_limits(
    p_quotas       text[],
    p_now          timestamptz,
    out quota      text,
    out unit       text,
    out period     interval,
    out kind       text,
    out amount     bigint,
    out effective  numeric,
    out capacity   numeric,
    out room       numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Each limit of the quotas as of p_now: what holds of its amount, what an idle one has room for, and its room now.
--
-- The effective amount is the configured one, lowered by the provider's refusals, without the headroom of a window, which
-- takes no whole unit by itself. A bucket refills at the effective amount up to its capacity, the burst: what the burst is below the amount is
-- its margin, and it needs no headroom. The room is negative where calls used more than they were granted.
--
-- Returns  one row a limit
begin
    return query
    select
        l.quota, l.unit, l.period, l.kind, l.amount, terms.effective, terms.capacity,
        case l.kind
            when 'window' then terms.effective - forebay._window_used(l.quota, l.unit, l.period, p_now)
            when 'count' then terms.effective - forebay._open_calls(l.quota, p_now)
            else forebay._bucket_level(l, terms.capacity, terms.effective, p_now)
        end
    from forebay.quotas as q
    inner join forebay.quota_limits as l on l.quota = q.quota
    cross join lateral forebay._quota_throttle(q.quota, p_now) as throttle
    cross join lateral (
        select
            held.amount as effective,
            coalesce(l.burst * throttle.share, held.amount) as capacity
        from (
            select ceil(forebay._lowered(l.amount, throttle.share) * case l.kind when 'window' then 1 - q.headroom else 1 end)
            as amount
        ) as held
    ) as terms
    where q.quota = any(p_quotas);
end;
$function$;

comment on function forebay._quota_limits is 'Each limit of the quotas as of p_now: what holds of its amount, what an idle one has room for, and its room now.';
