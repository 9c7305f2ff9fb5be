create or replace function forebay._lock_open_upload(p_upload_id uuid, p_actor text)
    returns forebay.uploads
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock p_actor's upload of that id, which was neither submitted nor dropped.
--
-- Locks   the upload
-- Errors  22023  an argument is null
--         QF203  it was submitted
--         QF306  p_actor has no such upload, or it was dropped
declare
    v_upload forebay.uploads := forebay._lock_upload(p_upload_id, p_actor);
begin
    if v_upload.dropped_at is not null then
        raise exception 'upload % ("%") was dropped', p_upload_id, v_upload.name
            using errcode = 'QF306', hint = 'Upload the file again.';
    end if;
    return v_upload;
end;
$function$;

comment on function forebay._lock_open_upload is 'Lock p_actor''s upload of that id, which was neither submitted nor dropped.';
