create or replace function forebay._head_tokens(p_agent forebay.agents)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the first task in line would be charged with; null when none is in line.
begin
    return (
        select coalesce(t.estimated_tokens, p_agent.default_estimated_tokens)
        from forebay.tasks as t
        where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready
        order by t.priority desc, t.created_at, t.task_id
        limit 1
    );
end;
$function$;

comment on function forebay._head_tokens is 'What the first task in line would be charged with; null when none is in line.';
