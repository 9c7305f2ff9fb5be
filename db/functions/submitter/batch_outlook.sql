create or replace function forebay.batch_outlook(p_batch_id bigint, p_actor text)
    returns forebay.batch_outlook
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How far p_actor's batch has come, what it has cost, and how long it will still take.
--
-- time_left counts what is before the batch's last waiting task, the tasks that run, and the batch's own, at the rate at
-- which its agents really finished tasks lately; or, where that takes longer, at the rate that the limits in force let
-- pass. limited_by names such a limit, or the rule that nothing starts by; of a pause not its reason. Null: nothing finished lately, or no end of
-- that rule is known.
--
-- Returns    one row; per_minute is null where nothing finished in the last 15 minutes
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    return forebay._batch_outlook(forebay._own_batch(p_batch_id, p_actor));
end;
$function$;

comment on function forebay.batch_outlook is 'How far p_actor''s batch has come, what it has cost, and how long it will still take.';
