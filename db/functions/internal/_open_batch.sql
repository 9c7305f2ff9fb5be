create or replace function forebay._open_batch(
    p_name           text,
    p_customer       text,
    p_owner          text,
    p_metadata       jsonb,
    p_submission_key text
)
    returns bigint
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Open a batch and return its id; null where p_owner has one of that submission key (null: none has it).
--
-- Writes  forebay.batches
-- Locks   p_owner's submission key
-- Errors  22023  a name, customer or owner is empty or too long, or p_metadata is no object
--         QF402  p_metadata is too large
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
    perform forebay._require_document(p_metadata, 'p_metadata', (forebay._limits()).max_payload_bytes);

    insert into forebay.batches (name, customer, owner, metadata, submission_key, created_at)
    values (p_name, p_customer, p_owner, p_metadata, p_submission_key, forebay._now())
    on conflict (owner, submission_key) where submission_key is not null do nothing
    returning batch_id into v_batch_id;
    return v_batch_id;
end;
$function$;

comment on function forebay._open_batch is 'Open a batch and return its id; null where p_owner has one of that submission key (null: none has it).';
