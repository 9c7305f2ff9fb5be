create or replace function forebay.complete(p_attempt_id bigint, p_result jsonb, p_confidence numeric default null)
    returns text
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
-- Report that an attempt succeeded, with its result; any number of times, also after the lease was lost.
--
-- Unlike complete_many it raises on a bad result, and changes nothing then.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_attempt_id is null, p_confidence is not from 0 to 1, or the result has a number beyond 1.79e308
--            QF304  there is no such attempt
--            QF402  the result is too large
-- Called by  forebay_agent
begin
    perform forebay._get_attempt(p_attempt_id);
    perform forebay._require_document(p_result, 'the result', (forebay._limits()).max_result_bytes);
    if p_confidence not between 0 and 1 then
        raise exception 'p_confidence must be from 0 to 1, not %', p_confidence using errcode = '22023';
    end if;
    return (
        select c.status
        from forebay.complete_many(array[p_attempt_id], array[p_result], array[p_confidence]) as c
    );
end;
$function$;

comment on function forebay.complete is 'Report that an attempt succeeded, with its result; any number of times, also after the lease was lost.';
