create or replace function forebay._utc_day(p_at timestamptz)
    returns date
    language sql
    immutable
    security invoker
as $function$
-- The day that money of that moment belongs to: in UTC, whatever the session's time zone.
select (p_at at time zone 'UTC')::date;
$function$;

comment on function forebay._utc_day is 'The day that money of that moment belongs to: in UTC, whatever the session''s time zone.';
