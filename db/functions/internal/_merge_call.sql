create or replace function forebay._merge_call(p_old forebay.attempt_usage, p_new forebay.attempt_usage)
    returns forebay.attempt_usage
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What is known of a call after p_new, where p_old was known: the whole of p_new where p_old is null.
--
-- A report fills what was unknown, and the first numbers win; a session's numbers only grow. What a look at traces tells
-- of a call replaces what was known of it, also by what it leaves out: the rest of a sum is not what the sum was.
begin
    if p_old.call_id is null then
        return p_new;
    end if;
    if p_new.is_partial is not null then
        p_new.attempt_id := p_old.attempt_id;
        p_new.recorded_at := p_old.recorded_at;
        p_new.usd := p_old.usd;
        p_new.is_list_price := p_old.is_list_price;
        p_new.counted_usd := p_old.counted_usd;
        p_new.is_cumulative := p_old.is_cumulative;
        return p_new;
    end if;
    if p_old.is_cumulative then
        p_old.input_tokens := greatest(p_old.input_tokens, p_new.input_tokens);
        p_old.output_tokens := greatest(p_old.output_tokens, p_new.output_tokens);
        p_old.cached_tokens := greatest(p_old.cached_tokens, p_new.cached_tokens);
        p_old.pages := greatest(p_old.pages, p_new.pages);
        p_old.cost_usd := greatest(p_old.cost_usd, p_new.cost_usd);
        p_old.list_usd := greatest(p_old.list_usd, p_new.list_usd);
    end if;
    p_old.model := coalesce(p_old.model, p_new.model);
    p_old.input_tokens := coalesce(p_old.input_tokens, p_new.input_tokens);
    p_old.output_tokens := coalesce(p_old.output_tokens, p_new.output_tokens);
    p_old.cached_tokens := coalesce(p_old.cached_tokens, p_new.cached_tokens);
    p_old.pages := coalesce(p_old.pages, p_new.pages);
    p_old.cost_usd := coalesce(p_old.cost_usd, p_new.cost_usd);
    p_old.list_usd := coalesce(p_old.list_usd, p_new.list_usd);
    p_old.started_at := coalesce(p_old.started_at, p_new.started_at);
    p_old.latency_ms := coalesce(p_old.latency_ms, p_new.latency_ms);
    p_old.trace_id := coalesce(p_old.trace_id, p_new.trace_id);
    return p_old;
end;
$function$;

comment on function forebay._merge_call is
'What is known of a call after p_new, where p_old was known: the whole of p_new where p_old is null.';
