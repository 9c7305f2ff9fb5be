create or replace function forebay.submit_uploads(
    p_submission_key text,
    p_upload_ids     uuid[],
    p_agent          text,
    p_name           text,
    p_actor          text,
    p_customer       text default null,
    p_priority       integer default 0
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Submit p_actor's uploads as one batch, all or none of them, and return its id.
--
-- The same submission again answers with the same batch, whatever became of the first answer. A task's payload is
-- {"document", "name"}, its idempotency key the upload's id.
--
-- Returns    the batch
-- Writes     forebay.batches, forebay.tasks, forebay.uploads
-- Locks      the agent's line, shared; p_actor's submission key; the uploads, by id; then as enqueue_many
-- Errors     22023  an argument is null, out of range or too long
--            25001, 40001, QF301, QF403  as enqueue_many
--            QF201  the key was used for other uploads
--            QF203  an upload was submitted before; it is named
--            QF306  p_actor has no such upload, or it was dropped, or is not stored yet; it is named
-- Called by  forebay_submitter
declare
    v_ids      uuid[] := array(
        select ids.id from unnest(p_upload_ids) with ordinality as ids (id, place)
        where ids.id is not null group by ids.id order by min(ids.place)
    );
    v_batch_id bigint;
    v_tasks    jsonb;
begin
    if p_submission_key is null or char_length(p_submission_key) not between 1 and 200 then
        raise exception 'p_submission_key must have 1 to 200 characters' using errcode = '22023';
    end if;
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    perform forebay._require_between(cardinality(v_ids), 'the number of uploads', 1, (forebay._limits()).max_batch_size);

    v_batch_id := forebay._submitted_batch(p_submission_key, v_ids, p_actor);
    if v_batch_id is not null then
        return v_batch_id;
    end if;
    perform forebay._join_line(array[p_agent]);
    v_batch_id := forebay._open_batch(p_name, p_customer, p_actor, '{}', p_submission_key);
    if v_batch_id is null then
        return forebay._submitted_batch(p_submission_key, v_ids, p_actor);
    end if;
    v_tasks := forebay._take_uploads(v_ids, p_priority, p_actor);
    update forebay.uploads as u
    set task_id = e.task_id
    from forebay.enqueue_many(p_agent, v_tasks, v_batch_id) as e
    where u.upload_id = v_ids[e.ordinal];
    return v_batch_id;
end;
$function$;

comment on function forebay.submit_uploads is 'Submit p_actor''s uploads as one batch, all or none of them, and return its id.';
