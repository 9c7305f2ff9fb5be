create or replace function forebay.enqueue(
    p_agent            text,
    p_payload          jsonb,
    p_priority         integer default 0,
    p_batch_id         bigint default null,
    p_customer         text default null,
    p_idempotency_key  text default null,
    p_run_after        timestamptz default null,
    p_estimated_tokens bigint default null,
    p_max_attempts     integer default null
)
    returns bigint
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
-- Enqueue one task and return its id, as enqueue_many does for many.
--
-- Errors     as enqueue_many
-- Called by  forebay_submitter
begin
    return (
        select e.task_id
        from forebay.enqueue_many(
            p_agent,
            jsonb_build_array(jsonb_build_object(
                'payload', p_payload,
                'priority', p_priority,
                'customer', p_customer,
                'idempotency_key', p_idempotency_key,
                'run_after', p_run_after,
                'estimated_tokens', p_estimated_tokens,
                'max_attempts', p_max_attempts
            )),
            p_batch_id
        ) as e
    );
end;
$function$;

comment on function forebay.enqueue is 'Enqueue one task and return its id, as enqueue_many does for many.';
