create or replace function forebay._submitted_batch(p_submission_key text, p_upload_ids uuid[], p_actor text)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch that p_actor submitted under that key; null when there is none.
--
-- Errors  QF201  it was another set of uploads
declare
    v_key      text := p_submission_key;
    v_actor    text := p_actor;
    v_batch_id bigint;
begin
    select b.batch_id into v_batch_id from forebay.batches as b where b.owner = v_actor and b.submission_key = v_key;
    if found and exists (
        (
            select u.upload_id from forebay.tasks as t inner join forebay.uploads as u on u.task_id = t.task_id
            where t.batch_id = v_batch_id
            except
            select ids.id from unnest(p_upload_ids) as ids (id)
        )
        union all
        (
            select ids.id from unnest(p_upload_ids) as ids (id)
            except
            select u.upload_id from forebay.tasks as t inner join forebay.uploads as u on u.task_id = t.task_id
            where t.batch_id = v_batch_id
        )
    ) then
        raise exception 'submission "%" was made before with other uploads, as batch %', p_submission_key, v_batch_id
            using errcode = 'QF201', hint = 'Use a new key for every submission.';
    end if;
    return v_batch_id;
end;
$function$;

comment on function forebay._submitted_batch is 'The batch that p_actor submitted under that key; null when there is none.';
