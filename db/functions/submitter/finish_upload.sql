create or replace function forebay.finish_upload(
    p_upload_id        uuid,
    p_bytes            bigint,
    p_pages            integer,
    p_estimated_tokens bigint,
    p_actor            text
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take note that all of a file is stored and was found to be readable: from now on it can be submitted.
--
-- p_pages and p_estimated_tokens are null where they are not known. Once more is no error; the last numbers hold.
--
-- Writes     forebay.uploads
-- Locks      the upload
-- Errors     22023  p_upload_id or p_actor is null, or a number is out of range
--            QF203  the upload was submitted
--            QF306  p_actor has no such upload, or it was dropped: the file must not stay
-- Called by  forebay_submitter
begin
    perform forebay._require_between(p_bytes, 'p_bytes', 1, 1000000000000000);
    perform forebay._require_between(coalesce(p_pages, 0), 'p_pages', 0, 2147483647);
    perform forebay._require_between(coalesce(p_estimated_tokens, 0), 'p_estimated_tokens', 0, 1000000000000);
    perform forebay._lock_open_upload(p_upload_id, p_actor);
    update forebay.uploads as u
    set stored_at = forebay._now(), bytes = p_bytes, pages = p_pages, estimated_tokens = p_estimated_tokens
    where u.upload_id = p_upload_id;
end;
$function$;

comment on function forebay.finish_upload is 'Take note that all of a file is stored and was found to be readable: from now on it can be submitted.';
