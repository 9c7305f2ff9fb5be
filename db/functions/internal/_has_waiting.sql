create or replace function forebay._has_waiting(p_agent text, p_now timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether any task of the agent stands in line, those that are due by p_now and not woken yet included.
begin
    return exists (
        select from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and t.is_ready
    ) or exists (
        select from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
    );
end;
$function$;

comment on function forebay._has_waiting is 'Whether any task of the agent stands in line, those that are due by p_now and not woken yet included.';
