create or replace function forebay._hold_call(
    p_attempt forebay.task_attempts,
    p_permit  forebay.call_permit,
    p_input   bigint,
    p_output  bigint,
    p_now     timestamptz
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note that the attempt's call waits: since when, for what, and when it will ask again.
--
-- Writes  forebay.task_attempts
begin
    update forebay.task_attempts as a
    set asks_first = true, call_asked_at = coalesce(p_attempt.call_asked_at, p_now), call_input_tokens = p_input,
        call_output_tokens = p_output, call_quota = p_permit.quota, call_wait_until = p_permit.wait_until
    where a.attempt_id = p_attempt.attempt_id;
end;
$function$;

comment on function forebay._hold_call is 'Note that the attempt''s call waits: since when, for what, and when it will ask again.';
