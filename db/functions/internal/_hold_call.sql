create or replace function forebay._hold_call(
    p_attempt forebay.task_attempts,
    p_verdict forebay.call_verdict,
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
-- It holds its room in every quota that had none for it since it waits, so that no quota's room is lost while another's
-- is awaited; and in none while the agent is paused.
--
-- Writes  forebay.task_attempts
declare
    v_quota text := (p_verdict.permit).quota;
begin
    update forebay.task_attempts as a
    set asks_first = true, call_asked_at = coalesce(p_attempt.call_asked_at, p_now), call_input_tokens = p_input,
        call_output_tokens = p_output, call_quota = v_quota, call_free_at = p_verdict.free_at,
        call_holds = case
            when v_quota is null then '{}'
            when p_attempt.call_asked_at is null then array[v_quota]
            else array_remove(a.call_holds, v_quota) || v_quota
        end,
        call_wait_until = (p_verdict.permit).wait_until
    where a.attempt_id = p_attempt.attempt_id;
end;
$function$;

comment on function forebay._hold_call is 'Note that the attempt''s call waits: since when, for what, and when it will ask again.';
