create or replace function forebay._head(p_agent text, p_now timestamptz)
    returns forebay.tasks
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first task in the agent's line, those that are due by p_now and not woken yet included; null when nothing waits.
declare
    v_head forebay.tasks;
begin
    select h.* into v_head
    from (
        (
            select t.* from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready
            order by t.priority desc, t.created_at, t.task_id
            limit 1
        )
        union all
        (
            select t.* from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
            order by t.priority desc, t.created_at, t.task_id
            limit 1
        )
    ) as h
    order by h.priority desc, h.created_at, h.task_id
    limit 1;
    return v_head;
end;
$function$;

comment on function forebay._head is 'The first task in the agent''s line, those that are due by p_now and not woken yet included; null when nothing waits.';
