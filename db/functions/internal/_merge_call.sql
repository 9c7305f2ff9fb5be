create or replace function forebay._merge_call(p_old forebay.attempt_usage, p_new forebay.attempt_usage)
    returns forebay.attempt_usage
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What is known of a call after p_new, where p_old was known: the whole of p_new where p_old is null.
--
-- A report fills what was unknown, and the first numbers win. What a look at traces sees later corrects what it saw before.
-- A session's numbers only grow.
declare
    v_is_look boolean := p_new.is_partial is not null;
    v_first   forebay.attempt_usage := case when v_is_look then p_new else p_old end;
    v_second  forebay.attempt_usage := case when v_is_look then p_old else p_new end;
begin
    if p_old.call_id is null then
        return p_new;
    end if;
    if p_old.is_cumulative then
        v_first.input_tokens := greatest(p_old.input_tokens, p_new.input_tokens);
        v_first.output_tokens := greatest(p_old.output_tokens, p_new.output_tokens);
        v_first.cached_tokens := greatest(p_old.cached_tokens, p_new.cached_tokens);
        v_first.pages := greatest(p_old.pages, p_new.pages);
        v_first.cost_usd := greatest(p_old.cost_usd, p_new.cost_usd);
        v_first.list_usd := greatest(p_old.list_usd, p_new.list_usd);
    end if;
    p_old.model := coalesce(v_first.model, v_second.model);
    p_old.input_tokens := coalesce(v_first.input_tokens, v_second.input_tokens);
    p_old.output_tokens := coalesce(v_first.output_tokens, v_second.output_tokens);
    p_old.cached_tokens := coalesce(v_first.cached_tokens, v_second.cached_tokens);
    p_old.pages := coalesce(v_first.pages, v_second.pages);
    p_old.cost_usd := coalesce(v_first.cost_usd, v_second.cost_usd);
    p_old.list_usd := coalesce(v_first.list_usd, v_second.list_usd);
    p_old.started_at := coalesce(v_first.started_at, v_second.started_at);
    p_old.latency_ms := coalesce(v_first.latency_ms, v_second.latency_ms);
    p_old.trace_id := coalesce(v_first.trace_id, v_second.trace_id);
    p_old.is_partial := coalesce(p_new.is_partial, p_old.is_partial);
    return p_old;
end;
$function$;

comment on function forebay._merge_call is
'What is known of a call after p_new, where p_old was known: the whole of p_new where p_old is null.';
