create or replace function forebay._spend(p_attempt_id bigint)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Bring what the attempt cost up to date, and note the difference as spent; the caller holds its row.
--
-- The calls of the more complete source count, never of two. Each is spent on the UTC day that it was made. A call that used
-- nothing needs no price. Of a trace that may have more to tell not all of the cost is known.
--
-- Writes  forebay.attempt_usage, forebay.spend_entries, forebay.task_attempts
declare
    v_source text := forebay._usage_source(p_attempt_id);
begin
    with calls as (
        select
            u.source, u.call_id, a.agent, coalesce(a.customer, '') as customer, u.counted_usd,
            case when u.source = v_source then u.usd end as counts, forebay._called_at(u, a.started_at) as called_at
        from forebay.attempt_usage as u
        inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
        where u.attempt_id = p_attempt_id
            and u.counted_usd is distinct from case when u.source = v_source then u.usd end
    ), counted as (
        update forebay.attempt_usage as u
        set counted_usd = c.counts
        from calls as c
        where u.attempt_id = p_attempt_id and u.source = c.source and u.call_id = c.call_id
    )
    insert into forebay.spend_entries (agent, customer, spent_at, usd)
    select
        c.agent, c.customer, min(c.called_at), sum(coalesce(c.counts, 0) - coalesce(c.counted_usd, 0))
    from calls as c
    group by c.agent, c.customer, forebay._utc_day(c.called_at)
    having sum(coalesce(c.counts, 0) - coalesce(c.counted_usd, 0)) <> 0;

    update forebay.task_attempts as a
    set cost_usd = known.usd, is_cost_known = known.is_all
    from (
        select
            sum(u.usd) as usd,
            coalesce(bool_and(
                (u.usd is not null or forebay._used_nothing(u))
                and u.is_partial is not true
            ), false) as is_all
        from forebay.attempt_usage as u
        where u.attempt_id = p_attempt_id and u.source = v_source
    ) as known
    where a.attempt_id = p_attempt_id and (a.cost_usd, a.is_cost_known) is distinct from (known.usd, known.is_all);
end;
$function$;

comment on function forebay._spend is 'Bring what the attempt cost up to date, and note the difference as spent; the caller holds its row.';
