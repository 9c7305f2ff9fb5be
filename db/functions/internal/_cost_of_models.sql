create or replace function forebay._cost_of_models(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_line
    language sql
    stable
    security invoker
as $function$
-- What the calls of each model cost, in no set order: of each attempt those of the source that counts.
select
    u.model, count(distinct a.task_id), count(distinct a.attempt_id) filter (where a.finished_at is not null),
    count(distinct a.attempt_id) filter (where a.finished_at is not null and a.is_usage_known),
    count(distinct a.attempt_id) filter (where a.finished_at is not null and a.is_cost_known),
    count(distinct a.attempt_id) filter (where a.finished_at is not null and a.compute_usd is not null),
    count(distinct a.attempt_id) filter (
        where a.finished_at is not null and a.compute_usd is not null and not a.is_compute_final
    ),
    coalesce(sum(u.input_tokens), 0)::bigint, coalesce(sum(u.output_tokens), 0)::bigint,
    coalesce(sum(u.cached_tokens), 0)::bigint, coalesce(sum(u.usd), 0), null::numeric
from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
group by u.model;
$function$;

comment on function forebay._cost_of_models is 'What the calls of each model cost, in no set order: of each attempt those of the source that counts.';
