create or replace function forebay._parse_usage(p_usage jsonb)
    returns forebay.attempt_usage
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Read one call's usage as a row of attempt_usage, without attempt and time of recording.
--
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
    v_call.pages := forebay._json_number(p_usage, 'pages');
    v_call.cost_usd := forebay._json_number(p_usage, 'cost_usd');
    v_call.list_usd := forebay._json_number(p_usage, 'list_usd');
    v_call.started_at := forebay._json_time(p_usage, 'started_at');
    v_latency := forebay._json_number(p_usage, 'latency_ms');
    v_call.trace_id := forebay._json_name(p_usage, 'trace_id', 500);
    v_call.is_cumulative := coalesce(forebay._json_boolean(p_usage, 'is_cumulative'), false);
    if v_call.call_id is null then
        raise exception '"call_id" is required' using errcode = '22023';
    end if;
    if v_call.source not in ('agent', 'trace') then
        raise exception '"source" must be agent or trace, not "%"', left(v_call.source, 60) using errcode = '22023';
    end if;
    if v_call.cost_usd not between 0 and 1000000000 or v_call.list_usd not between 0 and 1000000000
        or v_call.pages not between 0 and 1000000000 or v_latency not between 0 and 1000000000000 then
        raise exception '"cost_usd", "list_usd" and "pages" must be from 0 to 10^9, and "latency_ms" from 0 to 10^12'
            using errcode = '22023';
    end if;
    v_call.latency_ms := round(v_latency)::bigint;
    if v_call.cached_tokens > v_call.input_tokens then
        raise exception '"cached_tokens" (%) are part of "input_tokens" (%)', v_call.cached_tokens, v_call.input_tokens
            using errcode = '22023', hint = 'Count the cached tokens into the input.';
    end if;
    return v_call;
end;
$function$;

comment on function forebay._parse_usage is 'Read one call''s usage as a row of attempt_usage, without attempt and time of recording.';
