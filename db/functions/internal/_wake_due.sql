create or replace function forebay._wake_due(p_agent text, p_now timestamptz, p_limit integer)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put the agent's due tasks into the line of those that can be claimed; say how many.
--
-- Writes  forebay.tasks.is_ready
-- Locks   the tasks, by id, skipping what somebody else holds
declare
    v_woken integer;
begin
    with due as (
        select t.task_id
        from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
        order by t.available_at
        limit p_limit
    ), locked as (
        select t.task_id
        from forebay.tasks as t
        inner join due on due.task_id = t.task_id
        where t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
        order by t.task_id
        for no key update of t skip locked
    )
    update forebay.tasks as t
    set is_ready = true
    from locked
    where t.task_id = locked.task_id;
    get diagnostics v_woken = row_count;
    return v_woken;
end;
$function$;

comment on function forebay._wake_due is 'Put the agent''s due tasks into the line of those that can be claimed; say how many.';
