create or replace function forebay._report_event(p_type text, p_attempt_id bigint, p_data jsonb)
    returns forebay.reported_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Report what an event says of how its attempt ended; null for an event that only brings usage.
--
-- Errors  22023  a key is of a wrong type or out of range, or a number is beyond 1.79e308
--         QF402  the result or the error is too large
declare
    v_confidence  numeric;
    v_retry_after interval;
    v_max_bytes   integer := (forebay._limits()).max_result_bytes;
begin
    if p_type = 'task.completed' then
        v_confidence := forebay._json_number(p_data, 'confidence');
        if v_confidence not between 0 and 1 then
            raise exception '"confidence" must be from 0 to 1, not %', v_confidence using errcode = '22023';
        end if;
        perform forebay._require_document(p_data -> 'result', 'the result', v_max_bytes);
        return forebay._report(p_attempt_id, true, p_data -> 'result', v_confidence, null, false, null);
    elsif p_type = 'task.failed' then
        perform forebay._require_document(p_data -> 'error', 'the error', v_max_bytes);
        if forebay._json_number(p_data, 'retry_after_seconds') not between 0 and 31557600 then
            raise exception '"retry_after_seconds" must be from 0 to a year' using errcode = '22023';
        end if;
        v_retry_after := make_interval(
            secs => round(forebay._json_number(p_data, 'retry_after_seconds'), 6)::double precision
        );
        return forebay._report(
            p_attempt_id, false, null, null, forebay._error(p_data -> 'error'),
            coalesce(forebay._json_boolean(p_data, 'retryable'), true), v_retry_after
        );
    end if;
    return null;
end;
$function$;

comment on function forebay._report_event is 'Report what an event says of how its attempt ended; null for an event that only brings usage.';
