create or replace function forebay._has_customer_caps()
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether any customer has a cap.
select exists (select from forebay.customers as c where c.max_usd_per_day is not null);
$function$;

comment on function forebay._has_customer_caps is 'Whether any customer has a cap.';
