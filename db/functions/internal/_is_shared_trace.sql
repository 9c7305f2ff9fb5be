create or replace function forebay._is_shared_trace(p_attempt forebay.task_attempts)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether other attempts name the trace that an attempt names as well; nobody can tell then whose its calls are.
select exists (
    select from forebay.task_attempts as o
    where o.trace_id = p_attempt.trace_id and o.attempt_id <> p_attempt.attempt_id
);
$function$;

comment on function forebay._is_shared_trace is
'Whether other attempts name the trace that an attempt names as well; nobody can tell then whose its calls are.';
