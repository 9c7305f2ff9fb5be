create or replace function forebay._get_batch(p_batch_id bigint)
    returns forebay.batches
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch of that id.
--
-- Errors  22023  p_batch_id is null
--         QF302  there is none
declare
    v_batch forebay.batches;
begin
    if p_batch_id is null then
        raise exception 'p_batch_id must not be null' using errcode = '22023';
    end if;
    select b.* into v_batch from forebay.batches as b where b.batch_id = p_batch_id;
    if not found then
        raise exception 'batch % does not exist', p_batch_id
            using errcode = 'QF302', hint = 'forebay.open_batch opens one.';
    end if;
    return v_batch;
end;
$function$;

comment on function forebay._get_batch is 'The batch of that id.';
