create or replace function forebay._parse_period(p_per text)
    returns interval
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The period of a limit: second, minute, hour, day, or an interval from 1 second to 1 day.
--
-- Errors  22023  it is something else
declare
    v_period interval;
begin
    begin
        v_period := forebay._exact(
            case when p_per in ('second', 'minute', 'hour', 'day') then '1 ' || p_per else p_per end::interval
        );
    exception when data_exception then
        v_period := null;
    end;
    if v_period is null or v_period not between interval '1 second' and interval '1 day' then
        raise exception '"per" must be second, minute, hour, day or an interval from 1 second to 1 day, not %',
            coalesce('"' || left(p_per, 60) || '"', 'null') using errcode = '22023';
    end if;
    return v_period;
end;
$function$;

comment on function forebay._parse_period is 'The period of a limit: second, minute, hour, day, or an interval from 1 second to 1 day.';
