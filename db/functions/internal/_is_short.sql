create or replace function forebay._is_short(p_cap forebay.spend_cap, p_usd numeric)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a cap leaves too little for a task that is expected to cost p_usd; one that is used up leaves nothing to any.
select (p_cap).has <= 0 or p_usd > (p_cap).has;
$function$;

comment on function forebay._is_short is 'Whether a cap leaves too little for a task that is expected to cost p_usd; one that is used up leaves nothing to any.';
