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
-- lost, or ended otherwise (after_failed, after_lost, ...). Ask for one row more than are to be shown, to know whether there
-- are others.
--
-- Returns    at most p_limit rows, the dearest first; days from the latest on, tries from the first on. key null: no customer, batch or model
-- Errors     22023  p_dimension is none of the seven, p_limit is not from 1 to 10,000, or a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_from timestamptz := coalesce(p_from, '-infinity');
    v_to   timestamptz := coalesce(p_to, 'infinity');
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    case p_dimension
        when 'agent', 'customer', 'day' then
            return query select * from forebay._cost_in_rollups(p_dimension, v_from, v_to, p_statuses, p_agents, p_customers) as line
            order by
                case p_dimension when 'day' then line.key end desc nulls last,
                line.llm_usd + line.compute_usd desc, line.key
            limit p_limit;
        when 'task' then
            return query
            select
                t.task_id::text, 1::bigint, t.ended_attempts::bigint, t.measured_attempts::bigint, t.priced_attempts::bigint,
                t.costed_attempts::bigint, t.provisional_attempts::bigint, t.used_input_tokens, t.used_output_tokens,
                t.used_cached_tokens, t.cost_usd, t.compute_usd
            from forebay._matching_tasks(v_from, v_to, p_statuses, p_agents, p_customers) as t
            order by t.cost_usd + t.compute_usd desc, t.task_id
            limit p_limit;
        when 'batch' then
            return query
            select
                t.batch_id::text, count(*), sum(t.ended_attempts), sum(t.measured_attempts), sum(t.priced_attempts),
                sum(t.costed_attempts), sum(t.provisional_attempts), sum(t.used_input_tokens)::bigint,
                sum(t.used_output_tokens)::bigint, sum(t.used_cached_tokens)::bigint, sum(t.cost_usd), sum(t.compute_usd)
            from forebay._matching_tasks(v_from, v_to, p_statuses, p_agents, p_customers) as t
            group by t.batch_id
            order by sum(t.cost_usd + t.compute_usd) desc, t.batch_id
            limit p_limit;
        when 'model' then
            return query
            select * from forebay._cost_of_models(v_from, v_to, p_statuses, p_agents, p_customers) as line
            order by line.llm_usd desc, line.key
            limit p_limit;
        when 'try' then
            return query
            select * from forebay._cost_of_tries(v_from, v_to, p_statuses, p_agents, p_customers) as line
            order by line.key <> 'first', line.llm_usd + line.compute_usd desc, line.key
            limit p_limit;
        else
            raise exception 'nothing is added up by "%"', left(p_dimension, 60)
                using errcode = '22023', hint = 'Dimensions: task, agent, customer, batch, model, day, try.';
    end case;
end;
$function$;

comment on function forebay.cost_by is 'Say what tasks cost by task, agent, customer, batch, model, day or try; p_from and p_to are half-open, on created_at.';
