create or replace function forebay._take_usage(p_attempt forebay.task_attempts, p_usage jsonb)
    returns boolean
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record one call's usage and settle it with the quotas; say whether it was new, or filled something that was unknown.
--
-- Writes  forebay.attempt_usage, forebay.attempt_calls, forebay.quota_settlements
-- Errors  22023  p_usage is no object, or a key is missing, of a wrong type, or out of range
declare
    v_id  text := p_usage ->> 'call_id';
    v_old forebay.attempt_usage;
    v_new forebay.attempt_usage;
begin
    v_new.source := coalesce(p_usage ->> 'source', 'agent');
    select u.* into v_old
    from forebay.attempt_usage as u
    where u.attempt_id = p_attempt.attempt_id and u.source = v_new.source and u.call_id = v_id;
    if not forebay._record_usage(p_attempt.attempt_id, p_usage) then
        return false;
    end if;
    select u.* into v_new
    from forebay.attempt_usage as u
    where u.attempt_id = p_attempt.attempt_id and u.source = v_new.source and u.call_id = v_id;
    perform forebay._settle_call(p_attempt, v_old, v_new);
    return true;
end;
$function$;

comment on function forebay._take_usage is 'Record one call''s usage and settle it with the quotas; say whether it was new, or filled something that was unknown.';
