create or replace function forebay._open_calls(p_quota text, p_now timestamptz)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many calls that the quota was charged for are under way: granted, and not reported.
--
-- Those of an attempt that was cancelled or superseded are, until its worker says that it has stopped, or its lease has run
-- out; those of one that ended otherwise are not. Agent by agent, whatever the statistics say (offset 0): what others have
-- in flight is not read.
begin
    return (
        select count(*)
        from forebay.agents as g
        cross join lateral (
            select o.attempt_id from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null
            union all
            select s.attempt_id
            from forebay.task_attempts as s
            where s.agent = g.agent and s.is_stop_pending and s.status in ('cancelled', 'superseded')
                and s.finished_at > p_now - g.lease and s.lease_expires_at > p_now
            offset 0
        ) as a
        inner join forebay.attempt_calls as c on c.attempt_id = a.attempt_id and not c.is_over
        where p_quota = any(g.quotas) and p_quota = any(c.quotas)
    );
end;
$function$;

comment on function forebay._open_calls is 'How many calls that the quota was charged for are under way: granted, and not reported.';
