create or replace function forebay._lock_upload(p_upload_id uuid, p_actor text)
    returns forebay.uploads
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock p_actor's upload of that id, which was not submitted yet; somebody else's answers as if it did not exist.
--
-- Locks   the upload
-- Errors  22023  an argument is null
--         QF203  it was submitted
--         QF306  p_actor has no such upload
declare
    v_upload forebay.uploads;
    v_actor  text := p_actor;
begin
    if p_upload_id is null or p_actor is null then
        raise exception 'p_upload_id and p_actor must not be null' using errcode = '22023';
    end if;
    select u.* into v_upload from forebay.uploads as u
    where u.upload_id = p_upload_id and forebay._is_person(u.owner, v_actor)
    for no key update;
    if not found then
        raise exception 'upload % does not exist', p_upload_id using errcode = 'QF306', hint = 'Upload the file again.';
    end if;
    if v_upload.task_id is not null then
        raise exception 'upload % ("%") was submitted before, as task %', p_upload_id, v_upload.name, v_upload.task_id
            using errcode = 'QF203', hint = 'To hand the file in once more, upload it again.';
    end if;
    return v_upload;
end;
$function$;

comment on function forebay._lock_upload is 'Lock p_actor''s upload of that id, which was not submitted yet; somebody else''s answers as if it did not exist.';
