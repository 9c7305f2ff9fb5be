create or replace function forebay.uploads_cleaned(p_upload_ids uuid[])
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take note that the storage is rid of what uploads_to_clean named, and return of how many uploads.
--
-- A task that was retried meanwhile leaves something anew: its upload comes again when it has ended.
--
-- Writes     forebay.uploads
-- Locks      the uploads, by id
-- Errors     22023  p_upload_ids is null
-- Called by  forebay_upkeep
declare
    v_cleaned integer;
begin
    if p_upload_ids is null then
        raise exception 'p_upload_ids must not be null' using errcode = '22023';
    end if;
    perform 1 from forebay.uploads as u
    where u.upload_id = any(p_upload_ids)
    order by u.upload_id
    for no key update;

    update forebay.uploads as u
    set cleaned_at = forebay._now()
    where u.upload_id = any(p_upload_ids) and u.cleaned_at is null and (
        u.dropped_at is not null
        or exists (select from forebay.tasks as t where t.task_id = u.task_id and t.finished_at is not null)
    );
    get diagnostics v_cleaned = row_count;
    return v_cleaned;
end;
$function$;

comment on function forebay.uploads_cleaned is 'Take note that the storage is rid of what uploads_to_clean named, and return of how many uploads.';
