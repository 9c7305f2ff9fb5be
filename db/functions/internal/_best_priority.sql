create or replace function forebay._best_priority(p_agent text, p_now timestamptz)
    returns integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The priority of the agent's best waiting task, null when none waits; of due tasks not yet in line, the longest due counts.
begin
    return (
        select greatest(
            (
                select t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready
                order by t.priority desc, t.created_at, t.task_id
                limit 1
            ),
            (
                select t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
                order by t.available_at
                limit 1
            )
        )::integer
    );
end;
$function$;

comment on function forebay._best_priority is 'The priority of the agent''s best waiting task, null when none waits; of due tasks not yet in line, the longest due counts.';
