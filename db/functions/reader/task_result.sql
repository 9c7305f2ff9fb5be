create or replace function forebay.task_result(p_task_id bigint)
    returns forebay.task_result
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- What went into a task and what came out of it, with the results of other attempts that were kept for audit.
--
-- Returns    one row; kept_results is an array of objects with attempt_id, result and confidence
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_reader
declare
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_result forebay.task_result;
begin
    select
        v_task.task_id, v_task.status, v_task.payload, v_task.result, v_task.confidence, v_task.error,
        (
            select coalesce(jsonb_agg(
                jsonb_build_object('attempt_id', a.attempt_id, 'result', a.result, 'confidence', a.confidence)
                order by a.attempt_no
            ), '[]')
            from forebay.task_attempts as a where a.task_id = p_task_id and a.result is not null
        )
    into v_result;
    return v_result;
end;
$function$;

comment on function forebay.task_result is 'What went into a task and what came out of it, with the results of other attempts that were kept for audit.';
