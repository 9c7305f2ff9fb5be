create or replace function forebay._after_failure(
    p_attempt     forebay.task_attempts,
    p_task        forebay.tasks,
    p_agent       forebay.agents,
    p_error       jsonb,
    p_retryable   boolean,
    p_retry_after interval
)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Move a task whose attempt reported a failure, by what error_policies says of the error's kind.
--
-- A kind that spends no attempt defers the task as long as its deferrals are within the agent's bounds; after that it spends
-- one as any other; either way the provider is not paid for it. A final kind ends the task whatever p_retryable says.
--
-- Returns  the task's status after it
-- Writes   forebay.tasks, forebay.refusals, forebay.task_attempts.expected_usd
declare
    v_policy    forebay.error_policies;
    v_wait      interval;
    v_may_retry boolean;
begin
    select p.* into v_policy from forebay.error_policies as p where p.kind = p_error ->> 'kind';
    v_wait := coalesce(p_retry_after, v_policy.default_wait);
    v_may_retry := p_retryable and not v_policy.is_final;
    if v_policy.pauses = 'always' or v_policy.pauses = 'when told' and p_retry_after is not null then
        perform forebay._refuse(p_attempt, p_agent, p_error ->> 'quota', v_wait);
    end if;
    if not v_policy.spends_attempt then
        update forebay.task_attempts as a set expected_usd = 0 where a.attempt_id = p_attempt.attempt_id;
    end if;
    if v_may_retry and not v_policy.spends_attempt and forebay._may_defer(p_agent, p_task, forebay._now()) then
        return forebay._defer(p_task, p_agent, p_error, v_wait);
    end if;
    return forebay._give_back(p_task, p_agent, p_error, v_may_retry, v_wait, false);
end;
$function$;

comment on function forebay._after_failure is 'Move a task whose attempt reported a failure, by what error_policies says of the error''s kind.';
