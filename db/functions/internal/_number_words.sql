create or replace function forebay._number_words(p_number numeric)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- A number as a sentence names it: thousands apart, and up to four decimals of a small one.
select case
    when p_number = trunc(p_number) or abs(p_number) >= 100 then to_char(round(p_number), 'FM999,999,999,999,999,990')
    else trim_scale(round(p_number, 4))::text
end;
$function$;

comment on function forebay._number_words is 'A number as a sentence names it: thousands apart, and up to four decimals of a small one.';
