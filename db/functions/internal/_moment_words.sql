create or replace function forebay._moment_words(p_at timestamptz, p_now timestamptz)
    returns text
    language sql
    stable
    security invoker
as $function$
-- A moment as a sentence names it, in the session's time zone: the day only when it is further than 12 hours off.
select to_char(
    p_at,
    case when p_at between p_now - interval '12 hours' and p_now + interval '12 hours' then '' else 'YYYY-MM-DD ' end
    || 'HH24:MI:SS TZ'
);
$function$;

comment on function forebay._moment_words is
'A moment as a sentence names it, in the session''s time zone: the day only when it is further than 12 hours off.';
