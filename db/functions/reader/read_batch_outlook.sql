create or replace function forebay.read_batch_outlook(p_batch_id bigint)
    returns forebay.batch_outlook
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How far anybody's batch has come, as batch_outlook says to its owner.
--
-- Returns    one row
-- Errors     22023  p_batch_id is null
--            QF302  no such batch
-- Called by  forebay_reader
begin
    return forebay._batch_outlook(forebay._get_batch(p_batch_id));
end;
$function$;

comment on function forebay.read_batch_outlook is 'How far anybody''s batch has come, as batch_outlook says to its owner.';
