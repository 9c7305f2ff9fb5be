create or replace function forebay._may_defer(p_agent forebay.agents, p_task forebay.tasks, p_now timestamptz)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the task may be deferred once more: not too often, and not too long after it was deferred first.
select p_task.deferral_count < p_agent.max_deferrals
    and p_now < coalesce(p_task.deferred_since, p_now) + forebay._exact(p_agent.max_deferral_time);
$function$;

comment on function forebay._may_defer is 'Whether the task may be deferred once more: not too often, and not too long after it was deferred first.';
