create or replace function forebay.reprioritize(
    p_task_ids bigint[],
    p_priority integer,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Give tasks that have not ended another priority; one that is processing takes it when it comes back in line.
--
-- Returns    one row a distinct id, by id; effect is reprioritized, none (ended, or had it) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
-- Called by  forebay_operator
declare
    v_ids     bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_changed bigint[];
begin
    perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    perform forebay._lock_tasks(v_ids);
    with changed as (
        update forebay.tasks as t
        set priority = p_priority
        where t.task_id = any(v_ids) and t.status in ('enqueued', 'processing') and t.priority <> p_priority
        returning t.task_id
    )
    select coalesce(array_agg(c.task_id), '{}') into v_changed from changed as c;
    perform forebay._audit(
        'reprioritize', v_changed, null, p_reason, p_actor, jsonb_build_object('priority', p_priority)
    );
    return query select * from forebay._effects(v_ids, v_changed, 'reprioritized');
end;
$function$;

comment on function forebay.reprioritize is 'Give tasks that have not ended another priority; one that is processing takes it when it comes back in line.';
