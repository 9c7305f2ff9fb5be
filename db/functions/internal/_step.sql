create or replace function forebay._step(
    p_from           timestamptz,
    p_to             timestamptz,
    p_step           interval,
    p_is_by_customer boolean
)
    returns interval
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The step of a series over a range: p_step, or the shortest that gives at most 120 points.
--
-- A customer's rollups begin at an hour: from 10 hours on shorter steps would be counted task by task.
--
-- Errors  22023  p_step is no step, or there were more than 1,000 points
declare
    v_minutes constant integer[] := array[1, 5, 15, 60, 360, 1440, 10080];
    v_step    interval := p_step;
    v_minute  integer;
begin
    if v_step is null then
        foreach v_minute in array v_minutes loop
            v_step := make_interval(mins => v_minute);
            exit when (v_minute <> 15 or not p_is_by_customer) and p_to - p_from <= 119 * v_step;
        end loop;
    elsif extract(epoch from v_step) <> all (select m.minutes * 60 from unnest(v_minutes) as m (minutes)) then
        raise exception 'p_step must be 1, 5 or 15 minutes, 1 or 6 hours, 1 or 7 days, not %', v_step
            using errcode = '22023';
    end if;
    if p_to - p_from > 999 * v_step then
        raise exception 'steps of % from % to % would be more than 1,000 points', v_step, p_from, p_to
            using errcode = '22023', hint = 'Give a longer p_step, or a shorter range.';
    end if;
    return make_interval(secs => extract(epoch from v_step));
end;
$function$;

comment on function forebay._step is 'The step of a series over a range: p_step, or the shortest that gives at most 120 points.';
