create or replace function forebay._record_usage(p_attempt forebay.task_attempts, p_call forebay.attempt_usage)
    returns forebay.attempt_usage
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record all that is known of one call now, priced, and return it.
--
-- It is priced as it is known then.
--
-- Writes  forebay.attempt_usage
declare
    v_call forebay.attempt_usage := p_call;
begin
    v_call.attempt_id := p_attempt.attempt_id;
    v_call.recorded_at := coalesce(p_call.recorded_at, forebay._now());
    v_call := forebay._priced(v_call, p_attempt.started_at);
    insert into forebay.attempt_usage as u (
        attempt_id, source, call_id, model, input_tokens, output_tokens, cached_tokens, pages, cost_usd, started_at,
        latency_ms, trace_id, recorded_at, list_usd, usd, is_list_price, is_partial, is_cumulative
    )
    values (
        v_call.attempt_id, v_call.source, v_call.call_id, v_call.model, v_call.input_tokens, v_call.output_tokens,
        v_call.cached_tokens, v_call.pages, v_call.cost_usd, v_call.started_at, v_call.latency_ms, v_call.trace_id,
        v_call.recorded_at, v_call.list_usd, v_call.usd, v_call.is_list_price, v_call.is_partial, v_call.is_cumulative
    )
    on conflict (attempt_id, source, call_id) do update set
        model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
        cached_tokens = excluded.cached_tokens, pages = excluded.pages, cost_usd = excluded.cost_usd,
        started_at = excluded.started_at, latency_ms = excluded.latency_ms, trace_id = excluded.trace_id,
        list_usd = excluded.list_usd, usd = excluded.usd, is_list_price = excluded.is_list_price,
        is_partial = excluded.is_partial;
    return v_call;
end;
$function$;

comment on function forebay._record_usage is 'Record all that is known of one call now, priced, and return it.';
