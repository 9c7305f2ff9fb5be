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
-- a task's first. The amounts are exact, and hold nothing twice; whoever rounds them says how.
--
-- Returns    one row a customer and agent, by customer (null, for none, is the last) and agent
-- Errors     22023  p_from or p_to is null
-- Called by  forebay_viewer
begin
    if p_from is null or p_to is null then
        raise exception 'p_from and p_to must be given' using errcode = '22023';
    end if;
    return query
    with matching as materialized (
        select t.* from forebay._matching_tasks(p_from, p_to, null, null, p_customers) as t
    ), tasks as (
        select
            t.customer, t.agent, count(*) as tasks, sum(t.ended_attempts) as ended, sum(t.measured_attempts) as measured,
            sum(t.priced_attempts) as priced, sum(t.costed_attempts) as costed, sum(t.provisional_attempts) as provisional,
            sum(t.used_input_tokens)::bigint as input_tokens, sum(t.used_output_tokens)::bigint as output_tokens,
            sum(t.used_cached_tokens)::bigint as cached_tokens
        from matching as t
        group by t.customer, t.agent
    ), amounts as (
        select
            t.customer, t.agent,
            sum(a.cost_usd) filter (where a.attempt_no = 1) as llm,
            sum(a.cost_usd) filter (where a.attempt_no > 1) as retry_llm,
            sum(a.compute_usd) filter (where a.attempt_no = 1 and a.is_compute_final) as compute,
            sum(a.compute_usd) filter (where a.attempt_no > 1 and a.is_compute_final) as retry_compute,
            sum(a.compute_usd) filter (where a.attempt_no = 1 and not a.is_compute_final) as provisional,
            sum(a.compute_usd) filter (where a.attempt_no > 1 and not a.is_compute_final) as retry_provisional
        from matching as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id
        group by t.customer, t.agent
    ), scans as (
        select t.customer, t.agent, sum(u.pages) as pages
        from forebay._counted_calls(p_from, p_to, null, null, p_customers) as u
        inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
        inner join matching as t on t.task_id = a.task_id
        where u.pages > 0
        group by t.customer, t.agent
    )
    select
        t.customer, t.agent, t.tasks, t.ended, t.measured, t.priced, t.costed, t.provisional, t.input_tokens,
        t.output_tokens, t.cached_tokens, coalesce(s.pages, 0), coalesce(m.llm, 0), coalesce(m.retry_llm, 0),
        coalesce(m.compute, 0), coalesce(m.retry_compute, 0), coalesce(m.provisional, 0), coalesce(m.retry_provisional, 0)
    from tasks as t
    left join amounts as m on m.agent = t.agent and m.customer is not distinct from t.customer
    left join scans as s on s.agent = t.agent and s.customer is not distinct from t.customer
    order by t.customer collate "C" nulls last, t.agent;
end;
$function$;

comment on function forebay.customer_costs is 'Say what the tasks created from p_from until before p_to cost, by customer and agent: what is put on a bill.';
