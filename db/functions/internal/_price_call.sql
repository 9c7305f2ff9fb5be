create or replace function forebay._price_call(p_call forebay.attempt_usage, p_at timestamptz)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a call costs by the price that its model has at p_at; null without a price, or when a number that it needs is unknown.
--
-- Cached tokens are part of the input, and none are when their number is unknown. What has no price in the row is free.
declare
    v_price  forebay.prices;
    v_cached bigint := least(coalesce(p_call.cached_tokens, 0), p_call.input_tokens);
begin
    select p.* into v_price
    from forebay.prices as p
    where p.model = p_call.model and p.valid_from <= p_at and p.valid_until > p_at
    order by p.valid_from desc
    limit 1;
    if not found then
        return null;
    end if;
    v_price.usd_per_m_cached := coalesce(v_price.usd_per_m_cached, v_price.usd_per_m_input);
    return
        case when v_price.usd_per_m_input is null then 0
            else 0.000001 * v_price.usd_per_m_input * (p_call.input_tokens - v_cached) end
        + case when v_price.usd_per_m_cached is null then 0 else 0.000001 * v_price.usd_per_m_cached * v_cached end
        + case when v_price.usd_per_m_output is null then 0
            else 0.000001 * v_price.usd_per_m_output * p_call.output_tokens end
        + case when v_price.usd_per_page is null then 0 else v_price.usd_per_page * p_call.pages end
        + coalesce(v_price.usd_per_call, 0);
end;
$function$;

comment on function forebay._price_call is 'What a call costs by the price that its model has at p_at; null without a price, or when a number that it needs is unknown.';
