create or replace function forebay._bucket_level(
    p_limit    forebay.quota_limits,
    p_capacity numeric,
    p_amount   numeric,
    p_now      timestamptz
)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The level of a quota's bucket as of p_now, with the settlements that wait to be folded in at the time of their calls.
--
-- It refills by p_amount a period, up to p_capacity: also before each settlement, so that time without calls adds nothing
-- beyond that.
declare
    v_level      numeric := p_limit.level;
    v_at         timestamptz := p_limit.refilled_at;
    v_per_minute numeric := p_amount * 60 / extract(epoch from p_limit.period);
    v_call       forebay.quota_settlements;
begin
    for v_call in
        select s.* from forebay.quota_settlements as s
        where s.quota = p_limit.quota and s.called_at >= p_limit.since
        order by s.called_at, s.settlement_id
    loop
        v_level := forebay._refill(v_level, p_capacity, v_per_minute, v_at, v_call.called_at)
        - forebay._in_unit(p_limit.unit, v_call.requests, v_call.input_tokens, v_call.output_tokens);
        v_at := greatest(v_at, v_call.called_at);
    end loop;
    return forebay._refill(v_level, p_capacity, v_per_minute, v_at, p_now);
end;
$function$;

comment on function forebay._bucket_level is 'The level of a quota''s bucket as of p_now, with the settlements that wait to be folded in at the time of their calls.';
