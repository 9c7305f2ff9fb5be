create or replace function forebay.open_upload(p_upload_id uuid, p_name text, p_actor text)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take note of a file that is about to be uploaded, and return the name that it has in the storage.
--
-- Commit before the first byte is written: from then on the clean-up knows of the file. p_name is what the person calls it;
-- it is kept whole and names nothing. The same id again begins the upload anew, as long as it was not submitted. A branch stores
-- its uploads apart: what it ever removes is its own.
--
-- Writes     forebay.uploads
-- Locks      the upload
-- Errors     22023  p_upload_id is null, or p_name or p_actor is null, empty or too long
--            QF203  the upload was submitted
--            QF306  the upload was dropped, or is somebody else's
--            QF401  this database is a copy that nobody has opened
-- Called by  forebay_submitter
declare
    v_document text := format('%s/%s.pdf', forebay._upload_folder(), p_upload_id);
    v_now      timestamptz := forebay._now();
begin
    if p_upload_id is null then
        raise exception 'p_upload_id must not be null' using errcode = '22023';
    end if;
    if p_name is null or char_length(p_name) not between 1 and 1000 then
        raise exception 'p_name must have 1 to 1000 characters' using errcode = '22023';
    end if;
    if p_actor is null or char_length(p_actor) not between 1 and 200 then
        raise exception 'p_actor must have 1 to 200 characters' using errcode = '22023';
    end if;
    perform forebay._require_own_files();

    insert into forebay.uploads (upload_id, owner, name, document, opened_at)
    values (p_upload_id, p_actor, p_name, v_document, v_now)
    on conflict (upload_id) do nothing;
    if not found then
        v_document := (forebay._lock_open_upload(p_upload_id, p_actor)).document;
        update forebay.uploads as u
        set name = p_name, opened_at = v_now, stored_at = null, bytes = null, pages = null, estimated_tokens = null
        where u.upload_id = p_upload_id;
    end if;
    return v_document;
end;
$function$;

comment on function forebay.open_upload is 'Take note of a file that is about to be uploaded, and return the name that it has in the storage.';
