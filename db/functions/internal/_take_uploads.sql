create or replace function forebay._take_uploads(p_upload_ids uuid[], p_priority integer, p_actor text)
    returns jsonb
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock p_actor's uploads for their submission, and return the tasks that they become, in the order of p_upload_ids.
--
-- Locks   the uploads, by id
-- Errors  QF203  one was submitted
--         QF306  p_actor has no such upload, or it was dropped, or is not stored yet
declare
    v_upload forebay.uploads;
    v_id     uuid;
begin
    foreach v_id in array array(select ids.id from unnest(p_upload_ids) as ids (id) order by ids.id) loop
        v_upload := forebay._lock_open_upload(v_id, p_actor);
        if v_upload.stored_at is null then
            raise exception 'upload % ("%") is not stored yet', v_id, v_upload.name
                using errcode = 'QF306', hint = 'Wait for the end of the upload, or upload the file again.';
        end if;
    end loop;

    return (
        select jsonb_agg(
            jsonb_build_object(
                'payload', jsonb_build_object('document', u.document, 'name', u.name),
                'priority', p_priority,
                'idempotency_key', u.upload_id,
                'estimated_tokens', u.estimated_tokens
            )
            order by ids.place
        )
        from unnest(p_upload_ids) with ordinality as ids (id, place)
        inner join forebay.uploads as u on u.upload_id = ids.id
    );
end;
$function$;

comment on function forebay._take_uploads is 'Lock p_actor''s uploads for their submission, and return the tasks that they become, in the order of p_upload_ids.';
