create or replace function forebay._disown_attempts()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End in a copy the attempts that go on in the original, and put their tasks back in line with nothing spent; no run is to be stopped.
--
-- Writes  forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks   the tasks, by id, then their attempts, by id
declare
    v_tasks    bigint[] := array(select t.task_id from forebay.tasks as t where t.status = 'processing' order by t.task_id);
    v_attempts bigint[];
    v_now      timestamptz;
begin
    perform forebay._lock_tasks(v_tasks);
    v_now := forebay._now();
    with ended as (
        update forebay.task_attempts as a
        set status = 'lost', finished_at = greatest(v_now, a.started_at), expected_usd = 0,
            error = jsonb_build_object('kind', 'infrastructure', 'message', 'it goes on in what this is a branch of')
        where a.finished_at is null
        returning a.attempt_id
    )
    select coalesce(array_agg(e.attempt_id), '{}') into v_attempts from ended as e;
    update forebay.tasks as t
    set status = 'enqueued', attempt_id = null, locked_by = null, attempt_count = greatest(t.attempt_count - 1, 0),
        is_ready = true, available_at = v_now
    where t.task_id = any(v_tasks) and t.status = 'processing';
    update forebay.task_attempts as a set is_stop_pending = false where a.is_stop_pending;
    perform forebay._settle(ended.attempt_id, true) from unnest(v_attempts) as ended (attempt_id);
end;
$function$;

comment on function forebay._disown_attempts is
'End in a copy the attempts that go on in the original, and put their tasks back in line with nothing spent; no run is to be stopped.';
