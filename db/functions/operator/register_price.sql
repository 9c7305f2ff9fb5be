create or replace function forebay.register_price(
    p_model            text,
    p_valid_from       timestamptz default null,
    p_valid_until      timestamptz default null,
    p_usd_per_m_input  numeric default null,
    p_usd_per_m_output numeric default null,
    p_usd_per_m_cached numeric default null,
    p_usd_per_page     numeric default null,
    p_usd_per_call     numeric default null,
    p_reason           text default null,
    p_actor            text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what a model costs from p_valid_from (null: now) to p_valid_until (null: without end), in US dollars.
--
-- Tokens are priced by the million. What is null is not paid for, but p_usd_per_m_cached: cached tokens then cost what input
-- costs. Where ranges overlap, the later p_valid_from holds; the same one again replaces the price. A call is priced when it
-- is reported, or filled: those of before keep what they have, and price_calls prices those that have nothing.
--
-- Writes     forebay.prices, forebay.audit_log
-- Errors     22023  p_model is no name, a price is out of its range, all are null, or the range of time is none
-- Called by  forebay_operator
declare
    v_now   timestamptz := forebay._now();
    v_price forebay.prices := (
        p_model, coalesce(p_valid_from, v_now), coalesce(p_valid_until, 'infinity'), p_usd_per_m_input, p_usd_per_m_output,
        p_usd_per_m_cached, p_usd_per_page, p_usd_per_call, v_now
    )::forebay.prices;
    v_usd   numeric[] := array[
        p_usd_per_m_input, p_usd_per_m_output, p_usd_per_m_cached, p_usd_per_page, p_usd_per_call
    ];
begin
    if p_model is null or char_length(p_model) not between 1 and 500 then
        raise exception 'p_model must have 1 to 500 characters' using errcode = '22023';
    end if;
    if not isfinite(v_price.valid_from) or v_price.valid_from >= v_price.valid_until then
        raise exception 'p_valid_until must be after p_valid_from, which must be a time' using errcode = '22023';
    end if;
    if not 0 <= all(array_remove(v_usd, null)) or not 1000000000 >= all(array_remove(v_usd, null)) then
        raise exception 'a price must be from 0 to 10^9 US dollars' using errcode = '22023';
    end if;
    if array_remove(v_usd, null) = '{}' then
        raise exception 'one of the prices must be given' using errcode = '22023', hint = 'What costs nothing has a price of 0.';
    end if;

    insert into forebay.prices values (v_price.*)
    on conflict (model, valid_from) do update set
        valid_until = excluded.valid_until, usd_per_m_input = excluded.usd_per_m_input,
        usd_per_m_output = excluded.usd_per_m_output, usd_per_m_cached = excluded.usd_per_m_cached,
        usd_per_page = excluded.usd_per_page, usd_per_call = excluded.usd_per_call, registered_at = excluded.registered_at;
    perform forebay._audit('register_price', null, null, p_reason, p_actor, to_jsonb(v_price));
end;
$function$;

comment on function forebay.register_price is 'Say what a model costs from p_valid_from (null: now) to p_valid_until (null: without end), in US dollars.';
