create or replace function forebay._record_usage(p_attempt forebay.task_attempts, p_call forebay.attempt_usage)
    returns forebay.attempt_usage
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record one call's usage, and return it as it is known now; null when it was neither new, nor filled what was unknown.
--
-- It is priced as it is known then.
--
-- Writes  forebay.attempt_usage
declare
    v_call forebay.attempt_usage;
begin
    insert into forebay.attempt_usage as u (
        attempt_id, source, call_id, model, input_tokens, output_tokens, cached_tokens, pages, cost_usd, started_at,
        latency_ms, trace_id, recorded_at, list_usd
    )
    values (
        p_attempt.attempt_id, p_call.source, p_call.call_id, p_call.model, p_call.input_tokens, p_call.output_tokens,
        p_call.cached_tokens, p_call.pages, p_call.cost_usd, p_call.started_at, p_call.latency_ms, p_call.trace_id,
        forebay._now(), p_call.list_usd
    )
    on conflict (attempt_id, source, call_id) do update set
        model = coalesce(u.model, excluded.model),
        input_tokens = coalesce(u.input_tokens, excluded.input_tokens),
        output_tokens = coalesce(u.output_tokens, excluded.output_tokens),
        cached_tokens = coalesce(u.cached_tokens, excluded.cached_tokens),
        pages = coalesce(u.pages, excluded.pages),
        cost_usd = coalesce(u.cost_usd, excluded.cost_usd),
        started_at = coalesce(u.started_at, excluded.started_at),
        latency_ms = coalesce(u.latency_ms, excluded.latency_ms),
        trace_id = coalesce(u.trace_id, excluded.trace_id),
        list_usd = coalesce(u.list_usd, excluded.list_usd)
    where (u.model is null and excluded.model is not null)
        or (u.input_tokens is null and excluded.input_tokens is not null)
        or (u.output_tokens is null and excluded.output_tokens is not null)
        or (u.cached_tokens is null and excluded.cached_tokens is not null)
        or (u.pages is null and excluded.pages is not null)
        or (u.cost_usd is null and excluded.cost_usd is not null)
        or (u.started_at is null and excluded.started_at is not null)
        or (u.latency_ms is null and excluded.latency_ms is not null)
        or (u.trace_id is null and excluded.trace_id is not null)
        or (u.list_usd is null and excluded.list_usd is not null);
    if not found then
        return null;
    end if;
    update forebay.attempt_usage as u
    set (usd, is_list_price) = (
        select priced.usd, priced.is_list_price from forebay._priced(u, p_attempt.started_at) as priced
    )
    where u.attempt_id = p_attempt.attempt_id and u.source = p_call.source and u.call_id = p_call.call_id
    returning u.* into v_call;
    return v_call;
end;
$function$;

comment on function forebay._record_usage is 'Record one call''s usage, and return it as it is known now; null when it was neither new, nor filled what was unknown.';
