create or replace function forebay.callback(p_event jsonb)
    returns jsonb
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
-- Take in a webhook event: the same effect as complete, fail or report_usage, any number of times, in any order.
--
-- p_event is {"type": "task.completed" | "task.failed" | "task.usage", "timestamp": ..., "data": {"task_id", "attempt_id",
-- "result", "confidence", "error", "retryable", "retry_after_seconds", "usage"}}. Usage is recorded first, whatever the type.
--
-- Returns    {"task_id", "status", "effect"}: effect is completed, retrying, failed, kept, recorded or none
-- Writes     forebay.tasks, forebay.task_attempts, forebay.attempt_usage, forebay.agent_settlements, forebay.refusals
-- Locks      the task, then its attempts, by id
-- Errors     22023  a key is missing or of a wrong type
--            QF304  there is no such attempt, or it is not the task's
--            QF401  this database is a copy
--            QF402  the result or the error is too large
-- Called by  forebay_agent
declare
    v_type       text;
    v_data       jsonb;
    v_task_id    bigint;
    v_attempt_id bigint;
    v_report     forebay.reported_attempt;
    v_recorded   integer := 0;
begin
    if coalesce(jsonb_typeof(p_event), 'null') <> 'object' or coalesce(jsonb_typeof(p_event -> 'data'), 'null') <> 'object' then
        raise exception 'p_event must be a JSON object with an object under "data"' using errcode = '22023';
    end if;
    v_type := coalesce(forebay._json_text(p_event, 'type'), '');
    if v_type not in ('task.completed', 'task.failed', 'task.usage') then
        raise exception '"type" must be task.completed, task.failed or task.usage, not "%"', left(v_type, 60)
            using errcode = '22023';
    end if;
    if coalesce(jsonb_typeof(p_event -> 'timestamp'), 'null') not in ('null', 'string', 'number') then
        raise exception '"timestamp" must be a time, not %', jsonb_typeof(p_event -> 'timestamp') using errcode = '22023';
    end if;
    v_data := p_event -> 'data';
    v_task_id := forebay._json_integer(v_data, 'task_id');
    v_attempt_id := forebay._json_integer(v_data, 'attempt_id');
    if v_task_id is null or v_attempt_id is null then
        raise exception '"task_id" and "attempt_id" are required' using errcode = '22023';
    end if;
    perform forebay._require_open();
    perform 1 from forebay.task_attempts as a where a.attempt_id = v_attempt_id and a.task_id = v_task_id;
    if not found then
        raise exception 'task % has no attempt %', v_task_id, v_attempt_id using errcode = 'QF304';
    end if;

    perform forebay._lock_attempt(v_attempt_id);
    if coalesce(jsonb_typeof(v_data -> 'usage'), 'null') <> 'null' then
        v_recorded := forebay.report_usage(v_attempt_id, v_data -> 'usage');
    elsif v_type = 'task.usage' then
        raise exception '"usage" is required' using errcode = '22023';
    end if;
    v_report := forebay._report_event(v_type, v_attempt_id, v_data);
    return jsonb_build_object(
        'task_id', v_task_id,
        'status', coalesce(v_report.status, (select t.status from forebay.tasks as t where t.task_id = v_task_id)),
        'effect', coalesce(v_report.effect, case when v_recorded > 0 then 'recorded' else 'none' end)
    );
end;
$function$;

comment on function forebay.callback is 'Take in a webhook event: the same effect as complete, fail or report_usage, any number of times, in any order.';
