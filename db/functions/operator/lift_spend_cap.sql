create or replace function forebay.lift_spend_cap(
    p_agent     text default null,
    p_customer  text default null,
    p_extra_usd numeric default null,
    p_reason    text default null,
    p_actor     text default null
)
    returns numeric
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let an agent or a customer spend so much more than its cap, today (UTC) alone; null means without end.
--
-- Lifts of one day add up; an amount after a lift without end replaces it, so that 0 takes it back.
--
-- Returns    the cap of today with all lifts, Infinity when it has no end
-- Writes     forebay.spend_lifts, forebay.audit_log
-- Errors     22023  neither or both of p_agent and p_customer are given, it has no cap, or p_extra_usd is out of its range
--            QF301  no such agent
-- Called by  forebay_operator
declare
    v_now      timestamptz := forebay._now();
    v_agent    text := coalesce(p_agent, '');
    v_customer text := coalesce(p_customer, '');
    v_cap      numeric;
begin
    if num_nulls(p_agent, p_customer) <> 1 then
        raise exception 'p_agent or p_customer must be given, not both' using errcode = '22023';
    end if;
    if p_extra_usd not between 0 and 1000000000 then
        raise exception 'p_extra_usd must be from 0 to 10^9 US dollars; null means without end' using errcode = '22023';
    end if;
    if p_agent is not null then
        v_cap := (forebay._get_agent(p_agent)).max_usd_per_day;
    else
        select c.max_usd_per_day into v_cap from forebay.customers as c where c.customer = v_customer;
    end if;
    if v_cap is null then
        raise exception '"%" has no cap to lift', left(coalesce(p_agent, p_customer), 200) using errcode = '22023';
    end if;

    insert into forebay.spend_lifts as l (day, agent, customer, extra_usd, lifted_at)
    values (forebay._utc_day(v_now), v_agent, v_customer, coalesce(p_extra_usd, 'Infinity'), v_now)
    on conflict (day, agent, customer) do update set
        extra_usd = case when l.extra_usd = 'Infinity' then 0 else l.extra_usd end + excluded.extra_usd, lifted_at = excluded.lifted_at;
    perform forebay._audit(
        'lift_spend_cap', null, p_agent, p_reason, p_actor,
        jsonb_build_object('customer', p_customer, 'extra_usd', p_extra_usd)
    );
    return forebay._cap_today(v_agent, v_customer, v_cap, v_now);
end;
$function$;

comment on function forebay.lift_spend_cap is 'Let an agent or a customer spend so much more than its cap, today (UTC) alone; null means without end.';
