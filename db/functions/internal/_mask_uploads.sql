create or replace function forebay._mask_uploads(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit uploads after the id p_after, and return the last one's id; null when there are no more.
--
-- None can be submitted any more, and none will be cleaned up after: where the files are is not known here.
--
-- Writes  forebay.uploads, forebay.masked_names
-- Locks   the uploads, by id
declare
    v_ids uuid[];
    v_now timestamptz := forebay._now();
begin
    select array_agg(locked.upload_id) into v_ids from (
        select u.upload_id from forebay.uploads as u
        where p_after is null or u.upload_id > p_after::uuid
        order by u.upload_id
        limit p_limit
        for update
    ) as locked;

    update forebay.uploads as u
    set owner = forebay._alias('person', u.owner), name = 'masked.pdf', document = 'masked/' || u.upload_id,
        dropped_at = case when u.task_id is null then coalesce(u.dropped_at, v_now) end,
        cleaned_at = coalesce(u.cleaned_at, v_now)
    where u.upload_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_uploads is 'Mask the next p_limit uploads after the id p_after, and return the last one''s id; null when there are no more.';
