create or replace function forebay._record_usage(p_attempt_id bigint, p_usage jsonb)
    returns boolean
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record one call's usage; say whether it was new, or filled something that was unknown.
--
-- Writes  forebay.attempt_usage
-- Errors  22023  p_usage is no object, or a key is missing, of a wrong type, or out of range
declare
    v_call    forebay.attempt_usage;
    v_latency numeric;
begin
    if jsonb_typeof(p_usage) <> 'object' then
        raise exception 'a call''s usage must be an object, not %', jsonb_typeof(p_usage) using errcode = '22023';
    end if;
    v_call.call_id := forebay._json_name(p_usage, 'call_id', 500);
    v_call.source := coalesce(forebay._json_text(p_usage, 'source'), 'agent');
    v_call.model := forebay._json_name(p_usage, 'model', 500);
    v_call.input_tokens := forebay._json_integer(p_usage, 'input_tokens', 0, 1000000000000);
    v_call.output_tokens := forebay._json_integer(p_usage, 'output_tokens', 0, 1000000000000);
    v_call.cached_tokens := forebay._json_integer(p_usage, 'cached_tokens', 0, 1000000000000);
    v_call.cost_usd := forebay._json_number(p_usage, 'cost_usd');
    v_call.started_at := forebay._json_time(p_usage, 'started_at');
    v_latency := forebay._json_number(p_usage, 'latency_ms');
    v_call.trace_id := forebay._json_name(p_usage, 'trace_id', 500);
    if v_call.call_id is null then
        raise exception '"call_id" is required' using errcode = '22023';
    end if;
    if v_call.source not in ('agent', 'trace') then
        raise exception '"source" must be agent or trace, not "%"', left(v_call.source, 60) using errcode = '22023';
    end if;
    if v_call.cost_usd not between 0 and 1000000000 or v_latency not between 0 and 1000000000000 then
        raise exception '"cost_usd" must be from 0 to 10^9, and "latency_ms" from 0 to 10^12' using errcode = '22023';
    end if;
    v_call.latency_ms := round(v_latency)::bigint;
    if v_call.cached_tokens > v_call.input_tokens then
        raise exception '"cached_tokens" (%) are part of "input_tokens" (%)', v_call.cached_tokens, v_call.input_tokens
            using errcode = '22023', hint = 'Count the cached tokens into the input.';
    end if;

    insert into forebay.attempt_usage as u (
        attempt_id, source, call_id, model, input_tokens, output_tokens, cached_tokens, cost_usd, started_at, latency_ms,
        trace_id, recorded_at
    )
    values (
        p_attempt_id, v_call.source, v_call.call_id, v_call.model, v_call.input_tokens, v_call.output_tokens,
        v_call.cached_tokens, v_call.cost_usd, v_call.started_at, v_call.latency_ms, v_call.trace_id, forebay._now()
    )
    on conflict (attempt_id, source, call_id) do update set
        model = coalesce(u.model, excluded.model),
        input_tokens = coalesce(u.input_tokens, excluded.input_tokens),
        output_tokens = coalesce(u.output_tokens, excluded.output_tokens),
        cached_tokens = coalesce(u.cached_tokens, excluded.cached_tokens),
        cost_usd = coalesce(u.cost_usd, excluded.cost_usd),
        started_at = coalesce(u.started_at, excluded.started_at),
        latency_ms = coalesce(u.latency_ms, excluded.latency_ms),
        trace_id = coalesce(u.trace_id, excluded.trace_id)
    where (u.model is null and excluded.model is not null)
        or (u.input_tokens is null and excluded.input_tokens is not null)
        or (u.output_tokens is null and excluded.output_tokens is not null)
        or (u.cached_tokens is null and excluded.cached_tokens is not null)
        or (u.cost_usd is null and excluded.cost_usd is not null)
        or (u.started_at is null and excluded.started_at is not null)
        or (u.latency_ms is null and excluded.latency_ms is not null)
        or (u.trace_id is null and excluded.trace_id is not null);
    return found;
end;
$function$;

comment on function forebay._record_usage is 'Record one call''s usage; say whether it was new, or filled something that was unknown.';
