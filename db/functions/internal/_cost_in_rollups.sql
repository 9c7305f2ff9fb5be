create or replace function forebay._cost_in_rollups(
    p_dimension text,
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_line
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $function$
-- What tasks cost by agent, customer or day, in no set order.
declare
    v_is_by_customer boolean := p_dimension = 'customer' or p_customers is not null;
    v_minutes        integer[] := array[40320, 1440, 60, 15];
begin
    if p_dimension = 'day' then
        v_minutes := array_remove(v_minutes, 40320);
    end if;
    if v_is_by_customer then
        v_minutes := array_remove(v_minutes, 15);
    end if;
    return query
    select
        line.key, line.tasks, line.running, line.ended, line.measured, line.priced, line.costed, line.provisional,
        line.input_tokens, line.output_tokens, line.cached_tokens, line.llm_usd, line.compute_usd
    from (
        select
            case p_dimension
                when 'agent' then c.agent
                when 'customer' then nullif(c.customer, '')
                else forebay._utc_day(c.starts_at)::text
            end as key,
            sum(c.tasks)::bigint as tasks,
            coalesce(sum(c.tasks) filter (where c.status = 'processing'), 0)::bigint as running,
            sum(c.ended_attempts)::bigint as ended,
            sum(c.measured_attempts)::bigint as measured, sum(c.priced_attempts)::bigint as priced,
            sum(c.costed_attempts)::bigint as costed,
            sum(c.provisional_attempts)::bigint as provisional, sum(c.input_tokens)::bigint as input_tokens,
            sum(c.output_tokens)::bigint as output_tokens, sum(c.cached_tokens)::bigint as cached_tokens,
            sum(c.llm_usd) as llm_usd, sum(c.compute_usd) as compute_usd
        from forebay._cells(
            forebay._slots(p_from, p_to, v_minutes), p_statuses, p_agents, v_is_by_customer, p_customers
        ) as c
        group by 1
    ) as line
    where line.tasks > 0;
end;
$function$;

comment on function forebay._cost_in_rollups is 'What tasks cost by agent, customer or day, in no set order.';
