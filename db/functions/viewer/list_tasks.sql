create or replace function forebay.list_tasks(
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_before_task_id bigint default null,
    p_limit          integer default 100
)
    returns setof forebay.task_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List tasks, newest first, a page at a time: the next page is that before the last id of this one.
--
-- Returns    one row a task, by id downwards
-- Errors     22023  p_limit is not from 1 to 10,000, or a status does not exist
--            QF301, QF302  no such agent or batch
-- Called by  forebay_viewer
declare
    v_statuses  text[] := p_statuses;
    v_agents    text[] := p_agents;
    v_customers text[] := p_customers;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    perform forebay._require_statuses(v_statuses);
    perform forebay._require_agents(v_agents);
    if p_batch_id is not null then
        perform forebay._get_batch(p_batch_id);
    end if;
    return query
    select
        t.task_id, t.agent, t.status, t.priority::integer, t.batch_id, t.customer, t.locked_by, t.available_at,
        t.attempt_count, t.attempt_id, a.progress_done, a.progress_total, t.confidence, t.error ->> 'kind', t.created_at,
        t.finished_at, t.reprocess_of
    from forebay._matching_tasks(p_from, p_to, v_statuses, v_agents, v_customers) as t
    left join forebay.task_attempts as a on a.attempt_id = t.attempt_id
    where (p_batch_id is null or t.batch_id = p_batch_id)
        and (p_before_task_id is null or t.task_id < p_before_task_id)
    order by t.task_id desc
    limit p_limit;
end;
$function$;

comment on function forebay.list_tasks is 'List tasks, newest first, a page at a time: the next page is that before the last id of this one.';
