create or replace function forebay.task_counts(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns setof forebay.task_count
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Count tasks by status; p_from and p_to are half-open, on created_at.
--
-- Returns    one row a status that p_statuses lets through, in the order of a task's life, 0 included
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_statuses  text[] := p_statuses;
    v_agents    text[] := p_agents;
    v_customers text[] := p_customers;
begin
    perform forebay._require_statuses(v_statuses);
    perform forebay._require_agents(v_agents);
    return query
    select words.status, count(t.task_id)
    from unnest(array['enqueued', 'processing', 'completed', 'failed', 'cancelled']) with ordinality as words (status, place)
    left join forebay._matching_tasks(p_from, p_to, v_statuses, v_agents, v_customers) as t on t.status = words.status
    where v_statuses is null or words.status = any(v_statuses)
    group by words.status, words.place
    order by words.place;
end;
$function$;

comment on function forebay.task_counts is 'Count tasks by status; p_from and p_to are half-open, on created_at.';
