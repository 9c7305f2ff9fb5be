create or replace function forebay.complete_many(
    p_attempt_ids bigint[],
    p_results     jsonb[],
    p_confidences numeric[] default null
)
    returns setof forebay.reported_attempt
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
-- Report that attempts succeeded, each with its result; a bad one fails its own attempt for good and spoils no other.
--
-- Returns    one row a distinct id, by id; of an id given twice the first result counts; an unknown id has status null
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  an array is null, or their lengths differ
-- Called by  forebay_agent
declare
    v_report record;
begin
    if p_attempt_ids is null or p_results is null
        or cardinality(p_attempt_ids) <> cardinality(p_results)
        or cardinality(p_attempt_ids) <> cardinality(p_confidences) then
        raise exception 'p_attempt_ids, p_results and p_confidences must have the same length' using errcode = '22023';
    end if;
    perform forebay._lock_tasks(
        array(select a.task_id from forebay.task_attempts as a where a.attempt_id = any(p_attempt_ids)), p_attempt_ids
    );

    for v_report in
        select distinct on (given.attempt_id)
            given.attempt_id, given.result, given.confidence,
            a.attempt_id is not null as is_known,
            forebay._result_fault(given.result, given.confidence) as fault
        from unnest(p_attempt_ids, p_results, p_confidences) with ordinality as given (attempt_id, result, confidence, ordinal)
        left join forebay.task_attempts as a on a.attempt_id = given.attempt_id
        where given.attempt_id is not null
        order by given.attempt_id, given.ordinal
    loop
        if not v_report.is_known then
            return next (v_report.attempt_id, null, 'none')::forebay.reported_attempt;
        else
            return next forebay._report(
                v_report.attempt_id, v_report.fault is null, v_report.result, v_report.confidence,
                jsonb_build_object('kind', 'bad_input', 'message', v_report.fault), false, null
            );
        end if;
    end loop;
end;
$function$;

comment on function forebay.complete_many is 'Report that attempts succeeded, each with its result; a bad one fails its own attempt for good and spoils no other.';
