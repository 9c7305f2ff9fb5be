create or replace function forebay._drop_rollups(p_attempt_id bigint, p_call_ids text[])
    returns boolean
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Drop calls of traces that turned out to be sums of others, and say whether there were any; the caller holds the attempt.
--
-- That is so when a span was read before those below it were stored. What was counted as spent for it is taken back first.
--
-- Writes  forebay.attempt_usage, forebay.spend_entries, forebay.task_attempts
begin
    update forebay.attempt_usage as u
    set usd = null, cost_usd = null, list_usd = null
    where u.attempt_id = p_attempt_id and u.source = 'trace' and u.call_id = any(p_call_ids);
    if not found then
        return false;
    end if;
    perform forebay._spend(p_attempt_id);
    delete from forebay.attempt_usage as u
    where u.attempt_id = p_attempt_id and u.source = 'trace' and u.call_id = any(p_call_ids);
    perform forebay._spend(p_attempt_id);
    perform forebay._measure(p_attempt_id);
    return true;
end;
$function$;

comment on function forebay._drop_rollups is
'Drop calls of traces that turned out to be sums of others, and say whether there were any; the caller holds the attempt.';
