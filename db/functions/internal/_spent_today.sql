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
-- Those are the open ones, and those that ended on that day and whose cost nobody told: a release or a refusal cost nothing,
-- any other what was expected. It is stable, so that all is read in one snapshot: money that is reported or folded meanwhile
-- is either still expected, or noted, or added up.
declare
    v_day   date := forebay._utc_day(p_now);
    v_since timestamptz := date_trunc('day', p_now, 'UTC');
begin
    if p_customer is null then
        select coalesce(sum(s.usd), 0) into recorded from (
            select d.usd from forebay.daily_spend as d where d.day = v_day and d.agent = p_agent
            union all
            select e.usd from forebay.spend_entries as e where e.agent = p_agent and forebay._utc_day(e.spent_at) = v_day
        ) as s;
        select coalesce(sum(o.usd), 0) into projected from (
            select greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0) as usd
            from forebay.task_attempts as a
            where a.agent = p_agent and a.finished_at is null
            union all
            select a.expected_usd
            from forebay.task_attempts as a
            where a.agent = p_agent and a.finished_at >= v_since and a.finished_at is not null
                and a.cost_usd is null and a.expected_usd > 0 and a.status <> 'released' and not forebay._is_refused(a.error)
        ) as o;
    else
        select coalesce(sum(s.usd), 0) into recorded from (
            select d.usd from forebay.daily_spend as d
            where d.customer = p_customer and d.customer <> '' and d.day = v_day
            union all
            select e.usd from forebay.spend_entries as e
            where e.customer = p_customer and e.customer <> '' and forebay._utc_day(e.spent_at) = v_day
        ) as s;
        select coalesce(sum(o.usd), 0) into projected from (
            select greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0) as usd
            from forebay.task_attempts as a
            where a.customer = p_customer and a.finished_at is null
            union all
            select a.expected_usd
            from forebay.task_attempts as a
            where a.customer = p_customer and a.finished_at >= v_since and a.finished_at is not null
                and a.cost_usd is null and a.expected_usd > 0 and a.status <> 'released' and not forebay._is_refused(a.error)
        ) as o;
    end if;
end;
$function$;

comment on function forebay._spent_today is 'What an agent or a customer (the other is null) has spent on the UTC day of p_now, and what its attempts may cost beyond it.';
