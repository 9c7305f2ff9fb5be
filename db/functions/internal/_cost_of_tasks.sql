create or replace function forebay._cost_of_tasks(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns forebay.cost_summary
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The part of a cost_summary that the rows of the tasks tell: sums, and what a task costs.
declare
    v_summary forebay.cost_summary;
    v_known   forebay.cost_line;
begin
    with costs as (
        select
            t.*,
            case when tells.is_over and t.priced_attempts = t.ended_attempts then t.cost_usd end as llm_of_one,
            case when tells.is_over and t.costed_attempts = t.ended_attempts then t.compute_usd end as compute_of_one
        from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
        cross join lateral (
            select t.status in ('completed', 'failed', 'cancelled') and t.ended_attempts > 0 as is_over
        ) as tells
    )
    select
        count(*), count(*) filter (where c.status = 'processing'), coalesce(sum(c.ended_attempts), 0), coalesce(sum(c.measured_attempts), 0),
        coalesce(sum(c.priced_attempts), 0), coalesce(sum(c.costed_attempts), 0), coalesce(sum(c.provisional_attempts), 0),
        coalesce(sum(c.used_input_tokens), 0)::bigint, coalesce(sum(c.used_output_tokens), 0)::bigint,
        coalesce(sum(c.used_cached_tokens), 0)::bigint, coalesce(sum(c.cost_usd), 0), coalesce(sum(c.compute_usd), 0),
        count(c.llm_of_one), percentile_disc(0.5) within group (order by c.llm_of_one),
        percentile_disc(0.95) within group (order by c.llm_of_one),
        count(c.compute_of_one), percentile_disc(0.5) within group (order by c.compute_of_one),
        percentile_disc(0.95) within group (order by c.compute_of_one),
        count(c.llm_of_one + c.compute_of_one),
        percentile_disc(0.5) within group (order by c.llm_of_one + c.compute_of_one),
        percentile_disc(0.95) within group (order by c.llm_of_one + c.compute_of_one)
    into
        v_summary.tasks, v_summary.running_attempts, v_summary.ended_attempts, v_summary.measured_attempts,
        v_summary.priced_attempts, v_summary.costed_attempts, v_summary.provisional_attempts,
        v_summary.input_tokens, v_summary.output_tokens, v_summary.cached_tokens, v_summary.llm_usd, v_summary.compute_usd,
        v_summary.llm_tasks, v_summary.llm_median, v_summary.llm_p95,
        v_summary.compute_tasks, v_summary.compute_median, v_summary.compute_p95,
        v_summary.whole_tasks, v_summary.whole_median, v_summary.whole_p95
    from costs as c;
    select line.* into v_known
    from forebay._known_line((
        null, v_summary.tasks, v_summary.running_attempts, v_summary.ended_attempts, v_summary.measured_attempts,
        v_summary.priced_attempts, v_summary.costed_attempts, v_summary.provisional_attempts, v_summary.input_tokens,
        v_summary.output_tokens, v_summary.cached_tokens, v_summary.llm_usd, v_summary.compute_usd
    )::forebay.cost_line) as line;
    v_summary.input_tokens := v_known.input_tokens;
    v_summary.output_tokens := v_known.output_tokens;
    v_summary.cached_tokens := v_known.cached_tokens;
    v_summary.llm_usd := v_known.llm_usd;
    v_summary.compute_usd := v_known.compute_usd;
    return v_summary;
end;
$function$;

comment on function forebay._cost_of_tasks is 'The part of a cost_summary that the rows of the tasks tell: sums, and what a task costs.';
