create or replace function forebay.cost_by(
    p_dimension text,
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null,
    p_limit     integer default 100
)
    returns setof forebay.cost_line
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say what tasks cost by task, agent, customer, batch, model, day or try; p_from and p_to are half-open, on created_at.
--
-- Agents, customers and days (UTC, of creation) come from the rollups, and are quick over any range. For tasks and batches
-- each task of the range is read, for models its calls as well: that takes as long as there are many, so give a range. By
-- model, the calls of the source that counts are added up, and the attempts are those that called it; compute_usd is null
-- there. By try, a line says what first tries cost (first), and what those cost that came after an attempt that failed, was
-- lost, or ended otherwise (after_failed, after_lost, ...). Sums are of what is known; where there are attempts and nothing is
-- known of any, they are null. cost_sources says by the same keys where the figures are from. Ask for one row more than are
-- to be shown, to know whether there are others.
--
-- Returns    at most p_limit rows, the dearest first; days from the latest on, tries from the first on. key null: no customer, batch or model
-- Errors     22023  p_dimension is none of the seven, p_limit is not from 1 to 10,000, or a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_from timestamptz := coalesce(p_from, '-infinity');
    v_to   timestamptz := coalesce(p_to, 'infinity');
begin
    perform forebay._require_dimension(p_dimension);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    case p_dimension
        when 'agent', 'customer', 'day' then
            return query select known.* from forebay._cost_in_rollups(p_dimension, v_from, v_to, p_statuses, p_agents, p_customers) as line
            cross join lateral forebay._known_line(line) as known
            order by case p_dimension when 'day' then line.key end desc nulls last, line.llm_usd + line.compute_usd desc, line.key
            limit p_limit;
        when 'task' then
            return query select known.* from forebay._cost_of_each_task(v_from, v_to, p_statuses, p_agents, p_customers) as line
            cross join lateral forebay._known_line(line) as known
            order by line.llm_usd + line.compute_usd desc, line.key::bigint
            limit p_limit;
        when 'batch' then
            return query select known.* from forebay._cost_of_batches(v_from, v_to, p_statuses, p_agents, p_customers) as line
            cross join lateral forebay._known_line(line) as known
            order by line.llm_usd + line.compute_usd desc, line.key::bigint
            limit p_limit;
        when 'model' then
            return query select known.* from forebay._cost_of_models(v_from, v_to, p_statuses, p_agents, p_customers) as line
            cross join lateral forebay._known_line(line) as known
            order by line.llm_usd desc, line.key
            limit p_limit;
        when 'try' then
            return query select known.* from forebay._cost_of_tries(v_from, v_to, p_statuses, p_agents, p_customers) as line
            cross join lateral forebay._known_line(line) as known
            order by line.key <> 'first', line.llm_usd + line.compute_usd desc, line.key
            limit p_limit;
    end case;
end;
$function$;

comment on function forebay.cost_by is 'Say what tasks cost by task, agent, customer, batch, model, day or try; p_from and p_to are half-open, on created_at.';
