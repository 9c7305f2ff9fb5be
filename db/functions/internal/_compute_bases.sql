create or replace function forebay._compute_bases(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_basis
    language sql
    stable
    security invoker
as $function$
-- Where it is known from what the machines of tasks cost: a row an attempt.
--
-- One whose run a bill should have told of by now, and has not, is not attributable; before that, or where the bill of its
-- workspace is not read, it is awaited.
select
    a.attempt_id, null::text,
    case when told.first_source = told.last_source then told.first_source else forebay._compute_source(a.attempt_id) end,
    case
        when a.compute_usd is not null then case when a.is_compute_final then 'final' else 'provisional' end
        when told.is_unpriced then 'unpriced'
        when a.finished_at is null then 'running'
        when not forebay._is_external(a.launcher) or a.run_id is null then 'unknown'
        when exists (
            select from forebay.compute_sources as s
            where s.source <> 'local' and a.finished_at <= s.as_of - limits.billing_latency
                and forebay._is_billed_there(a.place, s.settings)
        ) then 'not_attributable'
        else 'awaited'
    end,
    a.compute_usd
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
cross join forebay._limits() as limits
cross join lateral (
    select min(u.source) as first_source, max(u.source) as last_source, bool_or(u.usd is null) as is_unpriced
    from forebay.compute_usage as u
    where u.attempt_id = a.attempt_id
) as told;
$function$;

comment on function forebay._compute_bases is 'Where it is known from what the machines of tasks cost: a row an attempt.';
