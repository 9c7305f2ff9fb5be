create or replace function forebay._json_time(p_document jsonb, p_key text)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The time under p_key (ISO 8601 with its offset), null where it is absent or null.
--
-- Errors  22023  something else stands there, or a time without an offset, which would mean the session's zone
declare
    v_text text := forebay._json_text(p_document, p_key);
begin
    if v_text is null then
        return null;
    end if;
    if v_text !~ '^[[:space:]]*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)[[:space:]]*$' then
        raise exception '"%" must be a time like 2026-01-31T12:00:00Z, not "%"', p_key, left(v_text, 60)
            using errcode = '22023';
    end if;
    begin
        return v_text::timestamptz;
    exception when data_exception then
        raise exception '"%" is no time that exists: "%"', p_key, left(v_text, 60) using errcode = '22023';
    end;
end;
$function$;

comment on function forebay._json_time is 'The time under p_key (ISO 8601 with its offset), null where it is absent or null.';
