create or replace function forebay._forget_calls(p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Fold in what waits for quotas that nobody locks, and remove slots and open calls that count no more.
--
-- An attempt that crashed keeps its calls until they have left every window: usage that comes late still settles them.
--
-- Writes  forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements, forebay.attempt_calls
-- Locks   quotas, skipping what somebody else holds
declare
    v_quota text;
begin
    for v_quota in select q.quota from forebay.quotas as q order by q.quota for no key update skip locked loop
        perform forebay._fold_quota(v_quota, p_now);
        delete from forebay.quota_slots as s
        where s.quota = v_quota and s.slot_at <= p_now - forebay._window_length(s.period);
    end loop;
    delete from forebay.attempt_calls as c
    using forebay.task_attempts as a
    where a.attempt_id = c.attempt_id and a.finished_at is not null
        and c.granted_at <= p_now - forebay._window_length('1 day');
end;
$function$;

comment on function forebay._forget_calls is 'Fold in what waits for quotas that nobody locks, and remove slots and open calls that count no more.';
