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
declare
    v_batch_id bigint;
begin
    if p_name is null or char_length(p_name) not between 1 and 500 then
        raise exception 'p_name must have 1 to 500 characters' using errcode = '22023';
    end if;
    if char_length(p_customer) not between 1 and 200 or char_length(p_owner) not between 1 and 200 then
        raise exception 'p_customer and p_owner must have 1 to 200 characters, or be null' using errcode = '22023';
    end if;
    if p_metadata is null or jsonb_typeof(p_metadata) <> 'object' then
        raise exception 'p_metadata must be a JSON object' using errcode = '22023';
    end if;
    perform forebay._require_size(p_metadata, 'p_metadata', (forebay._limits()).max_payload_bytes);

    insert into forebay.batches (name, customer, owner, metadata, created_at)
    values (p_name, p_customer, p_owner, p_metadata, forebay._now())
    returning batch_id into v_batch_id;
    return v_batch_id;
end;
$function$;

comment on function forebay.open_batch is 'Open a batch, the parent of many tasks, and return its id; its tasks take its customer and owner.';
