create or replace function forebay.open_batch(
    p_name     text,
    p_customer text default null,
    p_owner    text default null,
    p_metadata jsonb default '{}'
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Open a batch, the parent of many tasks, and return its id; its tasks take its customer and owner.
--
-- Writes     forebay.batches
-- Errors     22023  a name, customer or owner is empty or too long, or p_metadata is no object
--            QF402  p_metadata is too large
-- Called by  forebay_submitter
begin
    return forebay._open_batch(p_name, p_customer, p_owner, p_metadata, null);
end;
$function$;

comment on function forebay.open_batch is 'Open a batch, the parent of many tasks, and return its id; its tasks take its customer and owner.';
