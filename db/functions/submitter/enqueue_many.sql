create or replace function forebay.enqueue_many(p_agent text, p_tasks jsonb, p_batch_id bigint default null)
    returns setof forebay.enqueued_task
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Enqueue tasks for one agent, all or none of them.
--
-- A task is an object: payload (required), priority, customer, idempotency_key, run_after, estimated_tokens,
-- max_attempts; other keys are ignored. A key that the agent already has answers with the first task and created = false;
-- only the payload is compared. run_after is an instant: a caller whose clock is wrong gets what it asked for. The
-- customer's boost is added to the priority.
--
-- Returns    one row a task, by ordinal from 1, in the order given
-- Writes     forebay.tasks
-- Locks      the agent's line, shared; for an agent with max_waiting also its end, alone, until the transaction ends;
--            then idempotency keys, in the order of the keys
-- Errors     22023  p_tasks is no array, too long, or has a bad task, which is named by its ordinal
--            25001  the agent has max_waiting, and the transaction is not READ COMMITTED
--            40001  a task with the same key went away at this moment, or the agent was defined anew after the snapshot
--            QF201  a key was used before with another payload
--            QF301, QF302  no such agent or batch
--            QF402  a payload is too large
--            QF403  more tasks of the agent would wait than its max_waiting
-- Called by  forebay_submitter
declare
    v_agent    forebay.agents;
    v_batch    forebay.batches;
    v_rows     forebay.tasks[] := array[]::forebay.tasks[];
    v_document jsonb;
    v_ordinal  integer := 0;
    v_has_keys boolean := false;
    v_is_named boolean := false;
    v_limits   forebay.installation := forebay._limits();
    v_now      timestamptz := forebay._now();
    v_message  text;
    v_state    text;
    v_hint     text;
begin
    perform forebay._join_line(array[p_agent]);
    v_agent := forebay._get_agent(p_agent);
    if p_tasks is null or jsonb_typeof(p_tasks) <> 'array' then
        raise exception 'p_tasks must be a JSON array' using errcode = '22023';
    end if;
    perform forebay._require_between(jsonb_array_length(p_tasks), 'the number of tasks', 0, v_limits.max_batch_size);
    if p_batch_id is not null then
        v_batch := forebay._get_batch(p_batch_id);
    end if;

    begin
        for v_document in select elements.value from jsonb_array_elements(p_tasks) as elements loop
            v_ordinal := v_ordinal + 1;
            v_rows := v_rows || forebay._parse_task(v_agent, v_document, v_batch, v_limits.max_payload_bytes, v_now);
            v_has_keys := v_has_keys or v_rows[v_ordinal].idempotency_key is not null;
            v_is_named := v_is_named or v_rows[v_ordinal].customer is not null;
        end loop;
    exception when data_exception or sqlstate 'QF402' then
        get stacked diagnostics v_message = message_text, v_state = returned_sqlstate, v_hint = pg_exception_hint;
        raise exception 'task %: %', v_ordinal, v_message using errcode = v_state, hint = concat_ws(' ', nullif(v_hint, ''), 'Nothing was enqueued.');
    end;

    if v_is_named then
        v_rows := forebay._boosted(v_rows);
    end if;
    if v_agent.max_waiting is not null then
        perform forebay._lock_end_of_line(v_agent);
    end if;
    insert into forebay.tasks
    select r.* from unnest(v_rows) as r
    order by r.idempotency_key collate "C" nulls first, r.task_id
    on conflict (agent, idempotency_key) where idempotency_key is not null do nothing;
    if found and v_agent.max_waiting is not null then
        perform forebay._require_short_line(v_agent);
    end if;

    if v_has_keys then
        return query select * from forebay._match_keys(v_rows);
    else
        return query select (row_number() over ())::integer, r.task_id, true from unnest(v_rows) as r;
    end if;
end;
$function$;

comment on function forebay.enqueue_many is 'Enqueue tasks for one agent, all or none of them.';
