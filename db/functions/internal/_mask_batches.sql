create or replace function forebay._mask_batches(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit batches after the id p_after, and return the last one's id; null when there are no more.
--
-- Writes  forebay.batches, forebay.masked_names
-- Locks   the batches, by id
declare
    v_ids bigint[];
begin
    select array_agg(locked.batch_id) into v_ids from (
        select b.batch_id from forebay.batches as b
        where p_after is null or b.batch_id > p_after::bigint
        order by b.batch_id
        limit p_limit
        for update
    ) as locked;

    update forebay.batches as b
    set name = 'batch ' || b.batch_id, customer = forebay._alias('customer', b.customer),
        owner = forebay._alias('person', b.owner), metadata = '{}', submission_key = null
    where b.batch_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_batches is 'Mask the next p_limit batches after the id p_after, and return the last one''s id; null when there are no more.';
