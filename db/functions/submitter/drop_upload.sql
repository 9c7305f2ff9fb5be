create or replace function forebay.drop_upload(p_upload_id uuid, p_actor text)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Give up a file before it is submitted, and return the name under which the storage may still have it.
--
-- Whoever calls this removes the file after the commit; if that fails, the clean-up does it. Once more is no error.
--
-- Writes     forebay.uploads
-- Locks      the upload
-- Errors     22023  an argument is null
--            QF203  the upload was submitted
--            QF306  p_actor has no such upload
--            QF401  this database is a copy that nobody has opened: the file may be the original's
-- Called by  forebay_submitter
declare
    v_upload forebay.uploads := forebay._lock_upload(p_upload_id, p_actor);
begin
    perform forebay._require_own_files();
    update forebay.uploads as u
    set dropped_at = forebay._now()
    where u.upload_id = p_upload_id and u.dropped_at is null;
    return v_upload.document;
end;
$function$;

comment on function forebay.drop_upload is 'Give up a file before it is submitted, and return the name under which the storage may still have it.';
