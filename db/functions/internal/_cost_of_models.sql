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
    c.model, count(distinct c.task_id), count(*) filter (where not c.is_ended), count(*) filter (where c.is_ended),
    count(*) filter (where c.is_ended and c.is_usage_known), count(*) filter (where c.is_ended and c.is_cost_known),
    count(*) filter (where c.is_ended and c.is_costed), count(*) filter (where c.is_ended and c.is_provisional),
    sum(c.input_tokens)::bigint, sum(c.output_tokens)::bigint, sum(c.cached_tokens)::bigint, sum(c.usd), null::numeric
from (
    select
        u.model, a.attempt_id, a.task_id, a.finished_at is not null as is_ended, a.is_usage_known, a.is_cost_known,
        a.compute_usd is not null as is_costed, a.compute_usd is not null and not a.is_compute_final as is_provisional,
        coalesce(sum(u.input_tokens), 0) as input_tokens, coalesce(sum(u.output_tokens), 0) as output_tokens,
        coalesce(sum(u.cached_tokens), 0) as cached_tokens, coalesce(sum(u.usd), 0) as usd
    from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
    inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
    group by u.model, a.attempt_id
) as c
group by c.model;
$function$;

comment on function forebay._cost_of_models is 'What the calls of each model cost, in no set order: of each attempt those of the source that counts.';
