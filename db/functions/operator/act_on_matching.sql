create or replace function forebay.act_on_matching(
    p_act            text,
    p_expected       bigint,
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_search         text default null,
    p_max_confidence numeric default null,
    p_priority       integer default null,
    p_note           text default null,
    p_reason         text default null,
    p_actor          text default null
)
    returns setof forebay.effect_count
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- Do one act (cancel, retry, reprocess, reprioritize or annotate) to all tasks that the filters let through, if they are p_expected many.
--
-- The filters are those of list_tasks, and count_matching says how many they let through. They are asked again of the tasks
-- once these are locked: a task that was claimed or that ended meanwhile makes another count. All of it happens, or nothing.
--
-- Returns    one row an effect, by its word
-- Writes     what the act writes
-- Locks      for retry and reprocess the lines of the tasks' agents; the tasks, by id, then their attempts, by id
-- Errors     22023  p_act is no act, p_expected is null or negative, or what the act or a filter takes is wrong
--            QF204  another number of tasks matches
--            QF301, QF302  no such agent or batch
--            QF404  more tasks match than forebay.installation allows at once
-- Called by  forebay_operator
declare
    v_filter forebay.task_filter := forebay._task_filter(
        p_from, p_to, p_statuses, p_agents, p_customers, p_batch_id, p_search, p_max_confidence
    );
    v_most   integer := (select i.max_batch_size from forebay.installation as i);
    v_ids    bigint[];
begin
    perform forebay._require_between(p_expected, 'p_expected', 0, 9223372036854775807);
    v_ids := array(select t.task_id from forebay.tasks as t where forebay._passes(t, v_filter) limit v_most + 1);
    if cardinality(v_ids) > v_most then
        raise exception 'more than % tasks match, which is too many for one act', v_most
            using errcode = 'QF404', hint = 'Narrow the filter.';
    end if;
    perform forebay._require_count(cardinality(v_ids), p_expected);

    if p_act in ('retry', 'reprocess') then
        perform forebay._join_line(array(select t.agent from forebay.tasks as t where t.task_id = any(v_ids)));
    end if;
    perform forebay._lock_tasks(v_ids);
    perform forebay._require_count(
        (select count(*) from forebay.tasks as t where t.task_id = any(v_ids) and forebay._passes(t, v_filter)), p_expected
    );
    return query select * from forebay._act(p_act, v_ids, p_priority, p_note, p_reason, p_actor);
end;
$function$;

comment on function forebay.act_on_matching is
'Do one act (cancel, retry, reprocess, reprioritize or annotate) to all tasks that the filters let through, if they are p_expected many.';
