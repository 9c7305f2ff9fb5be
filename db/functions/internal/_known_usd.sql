create or replace function forebay._known_usd(p_usd numeric, p_priced_attempts bigint)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- What is known of a cost; null, not 0, while nothing is.
select case when p_usd > 0 or p_priced_attempts > 0 then p_usd end;
$function$;

comment on function forebay._known_usd is 'What is known of a cost; null, not 0, while nothing is.';
