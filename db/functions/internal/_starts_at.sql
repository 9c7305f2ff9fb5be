create or replace function forebay._starts_at(p_task forebay.tasks, p_now timestamptz)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The earliest moment at which a dequeue would take a task that waits, if nothing else changes; null when others decide it.
--
-- No formula: the rule itself is asked about later moments. First for the task alone: what time brings (a pause that ends,
-- a bucket that refills, a window that moves on, the next day) never takes its room away. Then beside those before it,
-- which it may pass at that moment, and later no more.
declare
    v_alone timestamptz := case
        when forebay._may_start(p_task, p_now, true) then p_now
        else forebay._first_start(p_task, p_now, p_now, true)
    end;
begin
    if v_alone > p_now and forebay._may_start(p_task, v_alone, false) then
        return v_alone;
    end if;
    return case when v_alone is not null then forebay._first_start(p_task, p_now, v_alone, false) end;
end;
$function$;

comment on function forebay._starts_at is
'The earliest moment at which a dequeue would take a task that waits, if nothing else changes; null when others decide it.';
