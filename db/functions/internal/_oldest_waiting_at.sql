create or replace function forebay._oldest_waiting_at(p_now timestamptz)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- When the oldest task that could start by its time was created; null when there is none.
--
-- It enters each line at each priority, so that it does not count how many tasks wait.
begin
    return (
        select min(oldest.created_at) from (
            select first.created_at
            from forebay.agents as a
            cross join lateral forebay._waiting_priorities(a.agent) as words (priority)
            cross join lateral (
                select min(t.created_at) as created_at from forebay.tasks as t
                where t.agent = a.agent and t.status = 'enqueued' and t.is_ready and t.priority = words.priority
            ) as first
            union all
            select d.created_at from forebay.tasks as d
            where d.status = 'enqueued' and not d.is_ready and d.available_at <= p_now
        ) as oldest
    );
end;
$function$;

comment on function forebay._oldest_waiting_at is
'When the oldest task that could start by its time was created; null when there is none.';
