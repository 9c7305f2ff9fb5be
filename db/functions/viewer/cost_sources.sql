create or replace function forebay.cost_sources(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns setof forebay.cost_source
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say where the figures of cost_summary come from: by source, and by how it knows; p_from and p_to as there.
--
-- llm: source is agent or trace, whichever counts for an attempt; the basis of a call is reported (its cost was told with
-- it), price (the registered price of its model), list_price (what MLflow makes of it, of a model without a registered
-- price), or unknown. trace: the basis of an attempt is how far the search for its traces is: found, partial, awaited or
-- missing. compute: source is that of the records, such as billing or
-- local; the basis of an attempt is final, provisional, or unpriced: it used something of which no price is known, so that
-- its cost is not. Attempts that no source tells of have source null: running, awaited (its bill may still come), or
-- unknown; one whose run a bill should have told of by now, and has not, is not_attributable.
--
-- Returns    one row a part, source and basis, in that order; an attempt may be in several rows of llm
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_billed_until timestamptz;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    select max(s.as_of) - (forebay._limits()).billing_latency into v_billed_until
    from forebay.compute_sources as s
    where s.source <> 'local';
    return query
    with attempts as (
        select a.* from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id
    ), calls as (
        select
            u.attempt_id, u.source, u.usd,
            case
                when u.cost_usd is not null then 'reported'
                when u.usd = u.list_usd then 'list_price'
                when u.usd is not null then 'price'
                else 'unknown'
            end as basis
        from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
        union all
        select a.attempt_id, null, null, case when a.finished_at is null then 'running' else 'unknown' end
        from attempts as a
        where not a.is_usage_known and not (a.status = 'released' and a.used_calls = 0)
            and not exists (select from forebay.attempt_usage as u where u.attempt_id = a.attempt_id)
    ), machines as (
        select
            a.compute_usd as usd,
            case
                when told.first_source = told.last_source then told.first_source
                else forebay._compute_source(a.attempt_id)
            end as source,
            case
                when a.compute_usd is not null then case when a.is_compute_final then 'final' else 'provisional' end
                when told.is_unpriced then 'unpriced'
                when a.finished_at is null then 'running'
                when not forebay._is_external(a.launcher) or a.run_id is null then 'unknown'
                when a.finished_at <= v_billed_until then 'not_attributable'
                else 'awaited'
            end as basis
        from attempts as a
        cross join lateral (
            select min(u.source) as first_source, max(u.source) as last_source, bool_or(u.usd is null) as is_unpriced
            from forebay.compute_usage as u
            where u.attempt_id = a.attempt_id
        ) as told
    ), parts as (
        select 'llm' as part, c.source, c.basis, count(distinct c.attempt_id) as attempts, sum(c.usd) as usd
        from calls as c
        group by c.source, c.basis
        union all
        select 'trace', 'mlflow', forebay._trace_state(t), count(*), null
        from attempts as a
        inner join forebay.attempt_traces as t on t.attempt_id = a.attempt_id
        group by forebay._trace_state(t)
        union all
        select 'compute', m.source, m.basis, count(*), sum(m.usd)
        from machines as m
        group by m.source, m.basis
    )
    select p.part, p.source, p.basis, p.attempts, p.usd
    from parts as p
    order by array_position(array['llm', 'trace', 'compute'], p.part), p.source, p.basis;
end;
$function$;

comment on function forebay.cost_sources is 'Say where the figures of cost_summary come from: by source, and by how it knows; p_from and p_to as there.';
