create or replace function forebay._open_calls(p_quota text)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many calls on the quota were granted to attempts that still hold their task, and are not over yet.
--
-- Agent by agent, whatever the statistics say (offset 0): what others have in flight is not read.
begin
    return (
        select count(*)
        from forebay.agents as g
        cross join lateral (
            select o.attempt_id from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null offset 0
        ) as a
        inner join forebay.attempt_calls as c on c.attempt_id = a.attempt_id and not c.is_over
        where p_quota = any(g.quotas)
    );
end;
$function$;

comment on function forebay._open_calls is 'How many calls on the quota were granted to attempts that still hold their task, and are not over yet.';
