create or replace function forebay.register_customer(
    p_customer        text,
    p_priority_boost  integer default 0,
    p_max_usd_per_day numeric default null,
    p_reason          text default null,
    p_actor           text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Give a customer terms of its own, or others: what its new tasks gain in priority, and its cap a day (UTC).
--
-- A cap that is null does not limit; 0 lets nothing start. Tasks that wait keep their priority.
--
-- Writes     forebay.customers, forebay.audit_log
-- Locks      the customer: it waits for admissions that are under way
-- Errors     22023  an argument is out of its range
-- Called by  forebay_operator
declare
    v_now      timestamptz := forebay._now();
    v_customer forebay.customers := (p_customer, p_priority_boost, p_max_usd_per_day, v_now, v_now)::forebay.customers;
begin
    if p_customer is null or char_length(p_customer) not between 1 and 200 then
        raise exception 'p_customer must have 1 to 200 characters' using errcode = '22023';
    end if;
    perform forebay._require_between(p_priority_boost, 'p_priority_boost', -10000, 10000);
    if p_max_usd_per_day not between 0 and 1000000000 then
        raise exception 'p_max_usd_per_day must be from 0 to 10^9 US dollars; null means no cap' using errcode = '22023';
    end if;

    insert into forebay.customers values (v_customer.*)
    on conflict (customer) do update set
        priority_boost = excluded.priority_boost, max_usd_per_day = excluded.max_usd_per_day, updated_at = excluded.updated_at;
    perform forebay._audit('register_customer', null, null, p_reason, p_actor, to_jsonb(v_customer));
end;
$function$;

comment on function forebay.register_customer is 'Give a customer terms of its own, or others: what its new tasks gain in priority, and its cap a day (UTC).';
