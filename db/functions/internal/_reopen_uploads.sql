create or replace function forebay._reopen_uploads(p_task_ids bigint[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Have the uploads of tasks that were put back in line cleaned again when these have ended.
--
-- Writes  forebay.uploads
-- Locks   the uploads, by id
begin
    perform 1 from forebay.uploads as u
    where u.task_id = any(p_task_ids)
    order by u.upload_id
    for no key update;

    update forebay.uploads as u
    set cleaned_at = null
    where u.task_id = any(p_task_ids) and u.cleaned_at is not null;
end;
$function$;

comment on function forebay._reopen_uploads is 'Have the uploads of tasks that were put back in line cleaned again when these have ended.';
