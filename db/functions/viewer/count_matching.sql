create or replace function forebay.count_matching(
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_search         text default null,
    p_max_confidence numeric default null
)
    returns bigint
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- Count the tasks that list_tasks would list under the same filters, up to 100,001, which means more than 100,000.
--
-- It is the count that act_on_matching wants to be told. A range of time without another filter is read row by row.
--
-- Returns    0 to 100,001
-- Errors     22023  a status does not exist, p_max_confidence is not from 0 to 1, p_search is too long
--            QF301, QF302  no such agent or batch
-- Called by  forebay_viewer
declare
    v_filter forebay.task_filter := forebay._task_filter(
        p_from, p_to, p_statuses, p_agents, p_customers, p_batch_id, p_search, p_max_confidence
    );
begin
    return (
        select count(*) from (
            select t.task_id from forebay.tasks as t
            where forebay._passes(t, v_filter)
            limit 100001
        ) as matching
    );
end;
$function$;

comment on function forebay.count_matching is
'Count the tasks that list_tasks would list under the same filters, up to 100,001, which means more than 100,000.';
