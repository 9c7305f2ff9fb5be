create or replace function forebay.cost_sources(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null,
    p_dimension text default null,
    p_keys      text[] default null
)
    returns setof forebay.cost_source
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say where the figures of cost_summary, or of cost_by, come from: by source, and by how it knows; p_from and p_to as there.
--
-- llm: source is agent or trace, whichever counts for an attempt; the basis of a call is reported (its cost was told with
-- it), price (the registered price of its model), list_price (what MLflow makes of it, of a model without a registered
-- price), unused (nothing was used, and it costs 0; source null: nothing was called), or unknown. trace: the basis of an attempt is how far the search for its traces is: found, partial, awaited or
-- missing. compute: source is that of the records, such as billing or
-- local; the basis of an attempt is final, provisional, or unpriced: it used something of which no price is known, so that
-- its cost is not. Attempts that no source tells of have source null: running, awaited (its bill may still come),
-- unknown, or final (it never had a run, and costs 0); one whose run a bill should have told of by now, and has
-- not, is not_attributable.
-- p_dimension null is all together, as for cost_summary; p_keys (null: all) are keys of cost_by, '' of its null. By model
-- there are calls alone.
--
-- Returns    one row a key, part, source and basis, in that order; an attempt may be in several rows of llm
-- Errors     22023  a status does not exist, or p_dimension is neither null nor one of cost_by
--            QF301  no such agent
-- Called by  forebay_viewer
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    perform forebay._require_dimension(coalesce(p_dimension, 'task'));
    return query
    with bases as (
        select 'llm' as part, b.* from forebay._llm_bases(p_from, p_to, p_statuses, p_agents, p_customers) as b
        where p_dimension is distinct from 'model' or b.source is not null
        union all
        select 'trace', a.attempt_id, null, 'mlflow', forebay._trace_state(s), null
        from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id
        inner join forebay.attempt_traces as s on s.attempt_id = a.attempt_id
        where p_dimension is distinct from 'model'
        union all
        select 'compute', b.* from forebay._compute_bases(p_from, p_to, p_statuses, p_agents, p_customers) as b
        where p_dimension is distinct from 'model'
    ), keyed as (
        select forebay._cost_key(p_dimension, t, a, b.model) as key, b.*
        from bases as b
        inner join forebay.task_attempts as a on a.attempt_id = b.attempt_id
        inner join forebay.tasks as t on t.task_id = a.task_id
    )
    select k.key, k.part, k.source, k.basis, count(distinct k.attempt_id), sum(k.usd)
    from keyed as k
    where p_keys is null or coalesce(k.key, '') = any(p_keys)
    group by k.key, k.part, k.source, k.basis
    order by k.key nulls last, array_position(array['llm', 'trace', 'compute'], k.part), k.source, k.basis;
end;
$function$;

comment on function forebay.cost_sources is
'Say where the figures of cost_summary, or of cost_by, come from: by source, and by how it knows; p_from and p_to as there.';
