create or replace function forebay._parse_limit(p_quota text, p_limit jsonb)
    returns forebay.quota_limits
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Read one limit of a quota, without its level.
--
-- A bucket holds at least 1 where it admits anything, so that a single request can pass.
--
-- Errors  22023  it is no object, or a key is missing, of a wrong type or out of range
declare
    v_limit forebay.quota_limits;
    v_burst numeric;
begin
    if jsonb_typeof(p_limit) <> 'object' then
        raise exception 'a limit must be an object, not %', jsonb_typeof(p_limit) using errcode = '22023';
    end if;
    v_limit.quota := p_quota;
    v_limit.unit := forebay._json_text(p_limit, 'unit');
    v_limit.amount := forebay._json_integer(p_limit, 'amount', 0, 1000000000000000);
    v_limit.kind := coalesce(forebay._json_text(p_limit, 'kind'), 'window');
    v_burst := forebay._json_number(p_limit, 'burst');
    if v_limit.unit is null
        or v_limit.unit not in ('requests', 'tokens', 'input_tokens', 'output_tokens', 'concurrent_calls') then
        raise exception '"unit" must be requests, tokens, input_tokens, output_tokens or concurrent_calls, not %',
            coalesce(quote_ident(left(v_limit.unit, 60)), 'null') using errcode = '22023';
    elsif v_limit.amount is null then
        raise exception '"amount" is required' using errcode = '22023';
    elsif v_limit.kind not in ('window', 'bucket') then
        raise exception '"kind" must be window or bucket, not "%"', left(v_limit.kind, 60) using errcode = '22023';
    elsif v_burst is not null and (v_limit.kind <> 'bucket' or not (v_burst > 0 and v_burst <= 100)) then
        raise exception '"burst" must be above 0 and at most 100, and only a bucket has one' using errcode = '22023',
            hint = 'It is a factor of the amount.';
    end if;

    if v_limit.unit = 'concurrent_calls' then
        v_limit.kind := 'count';
        v_limit.period := '0';
    else
        v_limit.period := forebay._parse_period(forebay._json_text(p_limit, 'per'));
    end if;
    if v_limit.kind = 'bucket' then
        v_limit.burst := case when v_limit.amount = 0 then 0 else greatest(1, coalesce(v_burst, 0.8) * v_limit.amount) end;
    end if;
    return v_limit;
end;
$function$;

comment on function forebay._parse_limit is 'Read one limit of a quota, without its level.';
