create or replace function forebay.reprocess(
    p_task_ids bigint[],
    p_agent    text default null,
    p_priority integer default 10,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.reprocessed_task
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Enqueue finished tasks anew, as new tasks linked by reprocess_of; the old ones and their results stay.
--
-- p_agent null means the same agent. Payload, batch, customer and estimate are taken over.
--
-- Returns    one row a distinct id, by id; effect is reprocessed, none (it has not finished) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the agents' lines, shared; the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
--            QF301  no such agent
-- Called by  forebay_operator
declare
    v_ids bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_old bigint[];
    v_new bigint[];
    v_now timestamptz;
begin
    perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    perform forebay._join_line(
        array(select coalesce(p_agent, t.agent) from forebay.tasks as t where t.task_id = any(v_ids))
    );
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    with renewed as (
        insert into forebay.tasks (
            agent, priority, batch_id, customer, payload, estimated_tokens, max_attempts, available_at, created_at,
            reprocess_of, is_shared
        )
        select
            a.agent, p_priority, t.batch_id, t.customer, t.payload, t.estimated_tokens, t.max_attempts,
            v_now, v_now, t.task_id, a.is_fair_by_customer
        from forebay.tasks as t
        inner join forebay.agents as a on a.agent = coalesce(p_agent, t.agent)
        where t.task_id = any(v_ids) and t.status in ('completed', 'failed', 'cancelled')
        order by t.task_id
        returning task_id, reprocess_of
    )
    select coalesce(array_agg(r.reprocess_of), '{}'), coalesce(array_agg(r.task_id), '{}') into v_old, v_new from renewed as r;
    perform forebay._audit('reprocess', v_old, p_agent, p_reason, p_actor);

    return query
    select e.task_id, e.status, e.effect, renewed.new_id
    from forebay._effects(v_ids, v_old, 'reprocessed') as e
    left join unnest(v_old, v_new) as renewed (old_id, new_id) on renewed.old_id = e.task_id
    order by e.task_id;
end;
$function$;

comment on function forebay.reprocess is 'Enqueue finished tasks anew, as new tasks linked by reprocess_of; the old ones and their results stay.';
