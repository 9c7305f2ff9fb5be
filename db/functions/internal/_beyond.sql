create or replace function forebay._beyond(p_now numeric, p_before numeric)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- What p_now is above p_before, not less than 0; null, which is unknown, stays null.
select case when p_now is not null then greatest(p_now - coalesce(p_before, 0), 0) end;
$function$;

comment on function forebay._beyond is 'What p_now is above p_before, not less than 0; null, which is unknown, stays null.';
