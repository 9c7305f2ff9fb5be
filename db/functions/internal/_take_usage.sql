create or replace function forebay._take_usage(p_attempt forebay.task_attempts, p_call forebay.attempt_usage)
    returns boolean
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record one call's usage and settle it with the quotas; say whether that changed what is known of it.
--
-- Writes  forebay.attempt_usage, forebay.attempt_calls, forebay.quota_settlements
declare
    v_old forebay.attempt_usage;
    v_new forebay.attempt_usage;
begin
    select u.* into v_old
    from forebay.attempt_usage as u
    where u.attempt_id = p_attempt.attempt_id and u.source = p_call.source and u.call_id = p_call.call_id;
    if p_call.is_cumulative then
        p_call := forebay._part_of_session(p_attempt, p_call);
        if p_call.call_id is null then
            return false;
        end if;
    end if;
    v_new := forebay._merge_call(v_old, p_call);
    if v_new is not distinct from v_old then
        return false;
    end if;
    v_new := forebay._record_usage(p_attempt, v_new);
    perform forebay._settle_call(p_attempt, v_old, v_new);
    return true;
end;
$function$;

comment on function forebay._take_usage is
'Record one call''s usage and settle it with the quotas; say whether that changed what is known of it.';
