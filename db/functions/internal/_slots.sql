create or replace function forebay._slots(p_from timestamptz, p_to timestamptz, p_minutes integer[])
    returns forebay.time_slots[]
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Cut a range into parts that whole slots fill, each as wide as can be, and what is left at its ends.
--
-- p_minutes are the widths, from the widest to the narrowest, each a multiple of the next. Slots of a width follow each other from a Monday,
-- midnight UTC.
declare
    v_origin constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
    v_slots  forebay.time_slots[] := array[]::forebay.time_slots[];
    v_from   timestamptz;  -- of what is cut by now
    v_to     timestamptz;
    v_first  timestamptz;
    v_end    timestamptz;
    v_width  interval;
    v_minute integer;
begin
    if p_from >= p_to then
        return v_slots;
    end if;
    foreach v_minute in array p_minutes loop
        v_width := make_interval(mins => v_minute);
        v_first := date_bin(v_width, p_from, v_origin);
        if v_first < p_from then
            v_first := v_first + v_width;
        end if;
        v_end := date_bin(v_width, p_to, v_origin);
        if v_first < coalesce(v_from, v_end) then
            v_slots := v_slots || (v_minute, v_first, coalesce(v_from, v_end))::forebay.time_slots;
        end if;
        if v_to < v_end then
            v_slots := v_slots || (v_minute, v_to, v_end)::forebay.time_slots;
        end if;
        if v_first < v_end then
            v_from := v_first;
            v_to := v_end;
        end if;
    end loop;
    if p_from < coalesce(v_from, p_to) then
        v_slots := v_slots || (0, p_from, coalesce(v_from, p_to))::forebay.time_slots;
    end if;
    if v_to < p_to then
        v_slots := v_slots || (0, v_to, p_to)::forebay.time_slots;
    end if;
    return v_slots;
end;
$function$;

comment on function forebay._slots is 'Cut a range into parts that whole slots fill, each as wide as can be, and what is left at its ends.';
