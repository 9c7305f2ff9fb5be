create or replace function forebay._window_used(
    p_quota  text,
    p_unit   text,
    p_period interval,
    p_now    timestamptz,
    p_later  interval default '0'
)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of the calls so far counts against a window so long after p_now, settlements that wait to be folded in included.
declare
    v_since timestamptz := p_now + p_later - forebay._window_length(p_period);
begin
    return greatest(0, (
        select coalesce(sum(s.used), 0)
        from forebay.quota_slots as s
        where s.quota = p_quota and s.unit = p_unit and s.period = p_period and s.slot_at > v_since
    ) + (
        select coalesce(sum(forebay._in_unit(p_unit, s.requests, s.input_tokens, s.output_tokens)), 0)
        from forebay.quota_settlements as s
        inner join forebay.quota_limits as l on l.quota = s.quota and l.unit = p_unit and l.period = p_period
        where s.quota = p_quota and s.called_at >= l.since and forebay._slot_at(p_period, s.called_at) > v_since
    ));
end;
$function$;

comment on function forebay._window_used is 'How much of the calls so far counts against a window so long after p_now, settlements that wait to be folded in included.';
