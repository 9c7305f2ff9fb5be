create or replace function forebay._share_trace(p_attempt forebay.task_attempts)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Have others that counted all calls of the trace which the attempt names, too, be looked at again now: it is not theirs alone.
--
-- Writes  forebay.attempt_traces
-- Locks   the attempt's row and theirs, by id
declare
    v_others bigint[] := array(
        select o.attempt_id from forebay.task_attempts as o
        where o.trace_id = p_attempt.trace_id and o.attempt_id <> p_attempt.attempt_id and exists (
            select from forebay.attempt_usage as u
            where u.attempt_id = o.attempt_id and u.trace_id = o.trace_id and u.is_partial is not null
        )
    );
begin
    perform 1 from forebay.attempt_traces as t
    where t.attempt_id = any(v_others || p_attempt.attempt_id)
    order by t.attempt_id
    for no key update;
    update forebay.attempt_traces as t
    set next_look_at = forebay._now()
    where t.attempt_id = any(v_others);
end;
$function$;

comment on function forebay._share_trace is
'Have others that counted all calls of the trace which the attempt names, too, be looked at again now: it is not theirs alone.';
