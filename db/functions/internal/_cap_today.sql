create or replace function forebay._cap_today(p_agent text, p_customer text, p_usd numeric, p_now timestamptz)
    returns numeric
    language sql
    stable
    security invoker
as $function$
-- The cap p_usd of an agent or a customer (the other is '') with what operators allowed beyond it today.
select p_usd + coalesce(
    (
        select l.extra_usd from forebay.spend_lifts as l
        where l.day = forebay._utc_day(p_now) and l.agent = p_agent and l.customer = p_customer
    ),
    0
);
$function$;

comment on function forebay._cap_today is 'The cap p_usd of an agent or a customer (the other is '''') with what operators allowed beyond it today.';
