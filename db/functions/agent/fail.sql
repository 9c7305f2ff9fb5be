create or replace function forebay.fail(
    p_attempt_id  bigint,
    p_error       jsonb,
    p_retryable   boolean default true,
    p_retry_after interval default null
)
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
-- Report that an attempt failed: the task goes back in line after p_retry_after (null: the agent's backoff), or fails.
--
-- p_error is an object with kind and message and anything else; an unknown kind counts as agent_bug. The table
-- error_policies says what follows from the kind: whether it is final whatever p_retryable says, whether an attempt is
-- spent, how long the task waits when p_retry_after is null, and whether the agent pauses so long. The pause is for all
-- who share the quota, if the error has one under "quota" that the agent draws on, or the agent draws on just one.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements, forebay.refusals
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_error is no object or has a number beyond 1.79e308, p_retryable is null, or p_retry_after is negative or above a year
--            QF304  there is no such attempt
--            QF402  p_error is too large
-- Called by  forebay_agent
begin
    if p_retryable is null then
        raise exception 'p_retryable must not be null' using errcode = '22023';
    end if;
    perform forebay._require_delay(p_retry_after, 'p_retry_after');
    perform forebay._require_document(p_error, 'the error', (forebay._limits()).max_result_bytes);
    return (forebay._report(p_attempt_id, false, null, null, forebay._error(p_error), p_retryable, p_retry_after)).status;
end;
$function$;

comment on function forebay.fail is 'Report that an attempt failed: the task goes back in line after p_retry_after (null: the agent''s backoff), or fails.';
