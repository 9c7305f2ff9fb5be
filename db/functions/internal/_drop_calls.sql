create or replace function forebay._drop_calls(p_attempt forebay.task_attempts, p_call_ids text[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Forget calls that traces told of and tell of no more; the caller holds the attempt, and counts its usage anew.
--
-- What was counted as spent for them, and against quotas, is taken back first.
--
-- Writes  forebay.attempt_usage, forebay.spend_entries, forebay.task_attempts, forebay.quota_settlements
declare
    v_call forebay.attempt_usage;
    v_none forebay.attempt_usage;
begin
    for v_call in
        update forebay.attempt_usage as u
        set usd = null, cost_usd = null, list_usd = null
        where u.attempt_id = p_attempt.attempt_id and u.source = 'trace' and u.call_id = any(p_call_ids)
        returning u.*
    loop
        v_none := v_call;
        v_none.input_tokens := 0;
        v_none.output_tokens := 0;
        perform forebay._settle_call(p_attempt, v_call, v_none);
    end loop;
    if found then
        perform forebay._spend(p_attempt.attempt_id);
        delete from forebay.attempt_usage as u
        where u.attempt_id = p_attempt.attempt_id and u.source = 'trace' and u.call_id = any(p_call_ids);
    end if;
end;
$function$;

comment on function forebay._drop_calls is
'Forget calls that traces told of and tell of no more; the caller holds the attempt, and counts its usage anew.';
