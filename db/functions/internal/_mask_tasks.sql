create or replace function forebay._mask_tasks(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit tasks after the id p_after, and return the last one's id; null when there are no more.
--
-- Writes  forebay.tasks, forebay.masked_names
-- Locks   the tasks, by id
declare
    v_ids bigint[];
begin
    select array_agg(locked.task_id) into v_ids from (
        select t.task_id from forebay.tasks as t
        where p_after is null or t.task_id > p_after::bigint
        order by t.task_id
        limit p_limit
        for update
    ) as locked;

    update forebay.tasks as t
    set customer = forebay._alias('customer', t.customer), idempotency_key = null, payload = '{}',
        result = case when t.result is not null then '{}'::jsonb end, error = forebay._masked_error(t.error)
    where t.task_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_tasks is 'Mask the next p_limit tasks after the id p_after, and return the last one''s id; null when there are no more.';
