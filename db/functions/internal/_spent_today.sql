create or replace function forebay._spent_today(
    p_agent       text,
    p_customer    text,
    p_now         timestamptz,
    out recorded  numeric,
    out projected numeric
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an agent or a customer (the other is null) has spent on the UTC day of p_now, and what its attempts may cost beyond it.
--
-- A release or a refusal cost nothing, whatever else ended without a word on its cost what was expected. It is stable, so
-- that all is read in one snapshot: money that is reported or folded meanwhile is either still expected, or noted, or added up.
declare
    v_day   date := forebay._utc_day(p_now);
    v_since timestamptz := date_trunc('day', p_now, 'UTC');
begin
    if p_customer is null then
        select coalesce(sum(r.usd), 0) into recorded from forebay._recorded_usd(v_day) as r where r.agent = p_agent;
        select coalesce(sum(p.usd), 0) into projected from forebay._projected_usd(v_since) as p where p.agent = p_agent;
    else
        select coalesce(sum(r.usd), 0) into recorded
        from forebay._recorded_usd(v_day) as r
        where r.customer = p_customer and r.customer <> '';
        select coalesce(sum(p.usd), 0) into projected
        from forebay._projected_usd(v_since) as p
        where p.customer = p_customer and p.customer is not null;
    end if;
end;
$function$;

comment on function forebay._spent_today is 'What an agent or a customer (the other is null) has spent on the UTC day of p_now, and what its attempts may cost beyond it.';
