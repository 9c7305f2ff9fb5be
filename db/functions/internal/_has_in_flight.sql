create or replace function forebay._has_in_flight(p_subject text)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether a task is processing of the agent of that name, or of one that draws on the quota of that name.
select exists (
    select from forebay.task_attempts as a
    inner join forebay.agents as g on g.agent = a.agent
    where a.finished_at is null and p_subject = any(g.agent || g.quotas)
);
$function$;

comment on function forebay._has_in_flight is
'Whether a task is processing of the agent of that name, or of one that draws on the quota of that name.';
