create or replace function forebay.list_tasks(
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_before_task_id bigint default null,
    p_limit          integer default 100,
    p_search         text default null,
    p_max_confidence numeric default null
)
    returns setof forebay.task_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- List tasks, newest first, a page at a time: the next page is that before the last id of this one.
--
-- p_search is the number of a task, batch or attempt; a run, launch token or idempotency key, exactly; or part of a customer
-- or of a batch's name (of the latest 1,000 batches that have it). Statuses, agents, customers, batches, times and searches
-- are read by indexes, p_max_confidence below 0.8 if few are so unsure. Read one after the other, newest first, until the page
-- is full, are: tasks of no customer, a search that more than 100 batches and customers have, and what remains of filters
-- that hold together.
--
-- Returns    one row a task, by created_at and id downwards
-- Errors     22023  p_limit is not from 1 to 10,000, a status does not exist, p_max_confidence is not from 0 to 1, or
--                   p_search is too long
--            QF301, QF302  no such agent or batch
-- Called by  forebay_viewer
declare
    v_filter    forebay.task_filter;
    v_before_at timestamptz := timestamptz 'infinity';
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    v_filter := forebay._task_filter(
        p_from, p_to, p_statuses, p_agents, p_customers, p_batch_id, p_search, p_max_confidence
    );
    if p_before_task_id is not null then
        select t.created_at into v_before_at from forebay.tasks as t
        where t.task_id <= p_before_task_id
        order by t.task_id desc
        limit 1;
    end if;
    return query
    select
        t.task_id, t.agent, t.status, t.priority::integer, t.batch_id, t.customer, t.locked_by, t.available_at,
        t.attempt_count, t.attempt_id, a.progress_done, a.progress_total, t.confidence, t.error ->> 'kind', t.created_at,
        t.finished_at, t.reprocess_of, b.name, used.*
    from forebay._page_of_tasks(v_filter, v_before_at, coalesce(p_before_task_id, 9223372036854775807), p_limit) as ids (id)
    inner join forebay.tasks as t on t.task_id = ids.id
    cross join lateral forebay._task_use(t) as used
    left join forebay.task_attempts as a on a.attempt_id = t.attempt_id
    left join forebay.batches as b on b.batch_id = t.batch_id
    order by t.created_at desc, t.task_id desc;
end;
$function$;

comment on function forebay.list_tasks is 'List tasks, newest first, a page at a time: the next page is that before the last id of this one.';
