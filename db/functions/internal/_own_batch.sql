create or replace function forebay._own_batch(p_batch_id bigint, p_actor text)
    returns forebay.batches
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch of that id, if p_actor owns it; somebody else's answers as if it did not exist.
--
-- Errors  22023  an argument is null
--         QF302  there is none of p_actor's
declare
    v_batch forebay.batches := forebay._get_batch(p_batch_id);
begin
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    if forebay._is_person(v_batch.owner, p_actor) is not true then
        raise exception 'batch % does not exist', p_batch_id
            using errcode = 'QF302', hint = 'forebay.open_batch opens one.';
    end if;
    return v_batch;
end;
$function$;

comment on function forebay._own_batch is 'The batch of that id, if p_actor owns it; somebody else''s answers as if it did not exist.';
