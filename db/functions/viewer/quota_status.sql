create or replace function forebay.quota_status(p_quotas text[] default null)
    returns setof forebay.quota_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each limit of the quotas as it stands now: what counts against it, what a call could take, what tasks in flight will use.
--
-- Returns    one row a limit, by quota, unit and period; a quota without limits has one row without a unit
-- Errors     22023  p_quotas holds null
--            QF305  no such quota
-- Called by  forebay_viewer
declare
    v_quotas text[] := p_quotas;
    v_now    timestamptz := forebay._now();
begin
    perform forebay._require_quotas(v_quotas);
    return query
    select s.*
    from forebay.quotas as q
    cross join lateral forebay._quota_state(q.quota, v_now) as s
    where v_quotas is null or q.quota = any(v_quotas)
    order by q.quota, s.unit, s.period;
end;
$function$;

comment on function forebay.quota_status is 'Each limit of the quotas as it stands now: what counts against it, what a call could take, what tasks in flight will use.';
