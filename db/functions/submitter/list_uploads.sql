create or replace function forebay.list_uploads(p_actor text)
    returns setof forebay.stored_upload
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List what p_actor has uploaded and neither submitted nor dropped.
--
-- Returns    one row a file that can be submitted, the first stored first; as many as a batch may have
-- Errors     22023  p_actor is null
-- Called by  forebay_submitter
declare
    v_actor text := p_actor;
begin
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    return query
    select u.upload_id, u.name, u.document, u.bytes, u.pages, u.estimated_tokens, u.opened_at, u.stored_at
    from forebay.uploads as u
    where forebay._is_person(u.owner, v_actor) and u.stored_at is not null and u.task_id is null and u.dropped_at is null
    order by u.stored_at, u.upload_id
    limit (forebay._limits()).max_batch_size;
end;
$function$;

comment on function forebay.list_uploads is 'List what p_actor has uploaded and neither submitted nor dropped.';
