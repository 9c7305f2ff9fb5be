create or replace function forebay.customer_costs(
    p_from      timestamptz,
    p_to        timestamptz,
    p_customers text[] default null
)
    returns setof forebay.customer_cost
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say what the tasks created from p_from until before p_to cost, by customer and agent: what is put on a bill.
--
-- A task counts in the month that it was created in, whenever it ran: no cost is in two months. Retries are attempts after
-- a task's first. The amounts are exact, and hold nothing twice; each is null where nothing was told of it, and so are
-- tokens and pages. Whoever rounds them says how. llm_sources are such as "agent price" or "trace list_price", as cost_sources names
-- source and basis; compute_sources such as billing, last read at compute_as_of. A 0 that is known without a source, as
-- nothing was called or nothing ran, is from none.
--
-- Returns    one row a customer and agent, by customer (null, for none, is the last) and agent
-- Errors     22023  p_from or p_to is null
-- Called by  forebay_viewer
begin
    if p_from is null or p_to is null then
        raise exception 'p_from and p_to must be given' using errcode = '22023';
    end if;
    return query
    select
        t.customer, t.agent, line.tasks, line.running_attempts, line.ended_attempts, coalesce(m.retries, 0),
        line.measured_attempts, line.priced_attempts, line.costed_attempts, line.provisional_attempts,
        line.input_tokens, line.output_tokens, line.cached_tokens,
        forebay._known_part(coalesce(p.pages, 0), line.measured_attempts, line.running_attempts + line.ended_attempts),
        m.llm_usd, m.retry_llm_usd, m.compute_usd, m.retry_compute_usd, m.provisional_usd, m.retry_provisional_usd,
        coalesce(s.llm_sources, '{}'), coalesce(s.compute_sources, '{}'), s.compute_as_of
    from forebay._customer_tasks(p_from, p_to, p_customers) as t
    cross join lateral forebay._known_line(t.line) as line
    left join forebay._customer_amounts(p_from, p_to, p_customers) as m
        on m.agent = t.agent and m.customer is not distinct from t.customer
    left join forebay._customer_pages(p_from, p_to, p_customers) as p
        on p.agent = t.agent and p.customer is not distinct from t.customer
    left join forebay._customer_sources(p_from, p_to, p_customers) as s
        on s.agent = t.agent and s.customer is not distinct from t.customer
    order by t.customer collate "C" nulls last, t.agent;
end;
$function$;

comment on function forebay.customer_costs is 'Say what the tasks created from p_from until before p_to cost, by customer and agent: what is put on a bill.';
