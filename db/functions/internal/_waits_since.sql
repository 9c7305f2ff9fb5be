create or replace function forebay._waits_since(p_agent text, p_now timestamptz)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Since when the agent's oldest task that could start waits: since it was created, or where it was put off since it is due.
--
-- Of each priority it looks at the 100 that were created first, however long the line is. Null when nothing waits.
begin
    return (
        select min(oldest.since) from (
            select greatest(first.created_at, first.available_at) as since
            from forebay._waiting_priorities(p_agent) as words (priority)
            cross join lateral (
                select t.created_at, t.available_at from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.priority = words.priority
                order by t.created_at, t.task_id
                limit 100
            ) as first
            union all
            select min(d.available_at) from forebay.tasks as d
            where d.agent = p_agent and d.status = 'enqueued' and not d.is_ready and d.available_at <= p_now
        ) as oldest
    );
end;
$function$;

comment on function forebay._waits_since is
'Since when the agent''s oldest task that could start waits: since it was created, or where it was put off since it is due.';
