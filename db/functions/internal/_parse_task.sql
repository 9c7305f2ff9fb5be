create or replace function forebay._parse_task(
    p_agent     forebay.agents,
    p_document  jsonb,
    p_batch     forebay.batches,
    p_max_bytes integer,
    p_now       timestamptz
)
    returns forebay.tasks
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The row that a task's document asks for, with an id of its own; nothing is written.
--
-- Errors  22023  a key is missing, of a wrong type, or out of range
--         QF402  the payload is too large
declare
    v_task forebay.tasks;
begin
    if jsonb_typeof(p_document) <> 'object' then
        raise exception 'a task must be an object, not %', jsonb_typeof(p_document) using errcode = '22023';
    end if;
    v_task.payload := p_document -> 'payload';
    if coalesce(jsonb_typeof(v_task.payload), 'null') = 'null' then
        raise exception '"payload" is required' using errcode = '22023';
    end if;
    perform forebay._require_document(v_task.payload, 'the payload', p_max_bytes);

    v_task.task_id := nextval('forebay.tasks_task_id_seq');
    v_task.agent := p_agent.agent;
    v_task.status := 'enqueued';
    v_task.priority := 0;
    v_task.batch_id := p_batch.batch_id;
    v_task.available_at := p_now;
    v_task.attempt_no := 0;
    v_task.attempt_count := 0;
    v_task.release_count := 0;
    v_task.deferral_count := 0;
    v_task.used_input_tokens := 0;
    v_task.used_output_tokens := 0;
    v_task.used_cached_tokens := 0;
    v_task.cost_usd := 0;
    v_task.ended_attempts := 0;
    v_task.measured_attempts := 0;
    v_task.priced_attempts := 0;
    v_task.costed_attempts := 0;
    v_task.provisional_attempts := 0;
    v_task.run_time := interval '0';
    v_task.compute_usd := 0;
    v_task.is_shared := p_agent.is_fair_by_customer;
    v_task.created_at := p_now;
    if p_document ?| array['priority', 'estimated_tokens', 'max_attempts', 'run_after', 'customer', 'idempotency_key'] then
        v_task.priority := coalesce(forebay._json_integer(p_document, 'priority', -32768, 32767), 0)::smallint;
        v_task.estimated_tokens := forebay._json_integer(p_document, 'estimated_tokens', 0, 1000000000000);
        v_task.max_attempts := forebay._json_integer(p_document, 'max_attempts', 1, 1000)::integer;
        v_task.available_at := greatest(p_now, forebay._json_time(p_document, 'run_after'));
        v_task.customer := forebay._json_name(p_document, 'customer', 200);
        v_task.idempotency_key := forebay._json_name(p_document, 'idempotency_key', 500);
    end if;
    v_task.is_ready := v_task.available_at <= p_now;

    if p_batch.customer <> v_task.customer then
        raise exception '"customer" is "%", but the batch belongs to "%"', v_task.customer, p_batch.customer
            using errcode = '22023', hint = 'Leave it out: a batch''s tasks take its customer.';
    end if;
    v_task.customer := coalesce(p_batch.customer, v_task.customer);
    return v_task;
end;
$function$;

comment on function forebay._parse_task is 'The row that a task''s document asks for, with an id of its own; nothing is written.';
