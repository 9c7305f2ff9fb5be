create or replace function forebay._open_calls(p_quota text)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many calls on the quota were granted to attempts that still hold their task, and are not over yet.
begin
    return (
        select count(*)
        from forebay.agents as g
        inner join forebay.task_attempts as a on a.agent = g.agent and a.finished_at is null
        inner join forebay.attempt_calls as c on c.attempt_id = a.attempt_id and not c.is_over
        where p_quota = any(g.quotas)
    );
end;
$function$;

comment on function forebay._open_calls is 'How many calls on the quota were granted to attempts that still hold their task, and are not over yet.';
