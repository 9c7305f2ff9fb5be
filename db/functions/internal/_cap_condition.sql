create or replace function forebay._cap_condition(p_agent text, p_customer text, p_usd numeric, p_now timestamptz)
    returns forebay.condition
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- That the cap p_usd of an agent or a customer (the other is null) is reached today; a lifted cap is another occurrence.
declare
    v_cap numeric := forebay._cap_today(coalesce(p_agent, ''), coalesce(p_customer, ''), p_usd, p_now);
    v_day date := forebay._utc_day(p_now);
begin
    return (
        'spend_cap.reached', coalesce(p_agent, p_customer),
        format('%s %s %s', case when p_agent is null then 'customer' else 'agent' end, v_day, v_cap),
        jsonb_strip_nulls(jsonb_build_object(
            'agent', p_agent, 'customer', p_customer, 'day', v_day, 'cap_usd', v_cap,
            'recorded_usd', (forebay._spent_today(p_agent, p_customer, p_now)).recorded
        )),
        p_now
    )::forebay.condition;
end;
$function$;

comment on function forebay._cap_condition is
'That the cap p_usd of an agent or a customer (the other is null) is reached today; a lifted cap is another occurrence.';
