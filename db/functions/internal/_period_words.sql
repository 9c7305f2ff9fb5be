create or replace function forebay._period_words(p_period interval)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- The period of a limit as a sentence names it; null without one.
select case extract(epoch from p_period)
    when 0 then null
    when 1 then 'a second'
    when 60 then 'a minute'
    when 3600 then 'an hour'
    when 86400 then 'a day'
    else 'in ' || trim_scale(extract(epoch from p_period)) || ' s'
end;
$function$;

comment on function forebay._period_words is 'The period of a limit as a sentence names it; null without one.';
