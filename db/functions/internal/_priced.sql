create or replace function forebay._priced(p_call forebay.attempt_usage, p_started_at timestamptz)
    returns forebay.attempt_usage
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- A call of an attempt that started at p_started_at, with what it costs, and whether that is a list price.
--
-- That is its reported cost_usd, else by its model's price at its start, else list_usd; null where it has none of them.
declare
    v_call forebay.attempt_usage := p_call;
begin
    v_call.usd := coalesce(v_call.cost_usd, forebay._price_call(v_call, forebay._called_at(v_call, p_started_at)));
    v_call.is_list_price := v_call.usd is null and v_call.list_usd is not null;
    v_call.usd := coalesce(v_call.usd, v_call.list_usd);
    return v_call;
end;
$function$;

comment on function forebay._priced is 'A call of an attempt that started at p_started_at, with what it costs, and whether that is a list price.';
