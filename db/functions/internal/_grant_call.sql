create or replace function forebay._grant_call(
    p_attempt forebay.task_attempts,
    p_quotas  text[],
    p_call_id text,
    p_input   bigint,
    p_output  bigint,
    p_now     timestamptz
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Charge a call to every limit of the quotas, once while it is open; the caller holds the quotas' locks and the attempt's.
--
-- Writes  forebay.task_attempts, forebay.attempt_calls, forebay.quota_slots, forebay.quota_limits
begin
    update forebay.task_attempts as a
    set asks_first = true, call_asked_at = null, call_input_tokens = null, call_output_tokens = null, call_quota = null,
        call_holds = '{}', call_free_at = null, call_wait_until = null, held_up = a.held_up + coalesce(p_now - p_attempt.call_asked_at, '0')
    where a.attempt_id = p_attempt.attempt_id and (not a.asks_first or a.call_wait_until is not null);

    insert into forebay.attempt_calls (attempt_id, call_no, call_id, quotas, granted_at, input_tokens, output_tokens)
    select p_attempt.attempt_id, coalesce(max(c.call_no), 0) + 1, p_call_id, p_quotas, p_now, p_input, p_output
    from forebay.attempt_calls as c
    where c.attempt_id = p_attempt.attempt_id
    having p_quotas <> '{}' and not coalesce(bool_or(c.call_id = p_call_id and not c.is_over), false);
    if not found then
        return;
    end if;

    insert into forebay.quota_slots as s (quota, unit, period, slot_at, used)
    select l.quota, l.unit, l.period, forebay._slot_at(l.period, p_now), forebay._in_unit(l.unit, 1, p_input, p_output)
    from forebay.quota_limits as l
    where l.quota = any(p_quotas) and l.kind = 'window'
    on conflict (quota, unit, period, slot_at) do update set used = s.used + excluded.used;

    update forebay.quota_limits as l
    set level = now.room - forebay._in_unit(l.unit, 1, p_input, p_output), refilled_at = greatest(p_now, l.refilled_at)
    from forebay._quota_limits(
        array(select b.quota from forebay.quota_limits as b where b.quota = any(p_quotas) and b.kind = 'bucket'), p_now
    ) as now
    where l.quota = now.quota and l.unit = now.unit and l.period = now.period and l.kind = 'bucket';
end;
$function$;

comment on function forebay._grant_call is 'Charge a call to every limit of the quotas, once while it is open; the caller holds the quotas'' locks and the attempt''s.';
