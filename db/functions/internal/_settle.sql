create or replace function forebay._settle(p_attempt_id bigint, p_is_release boolean default false)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.
--
-- What is used beyond the charge counts at once. Less counts when the attempt has ended and its usage is known: a crash
-- keeps the charge until somebody reports. A release that reported nothing used nothing.
--
-- Writes  forebay.agent_settlements, forebay.task_attempts.charged_tokens
declare
    v_attempt forebay.task_attempts := forebay._get_attempt(p_attempt_id);
    v_used    bigint := v_attempt.used_input_tokens + v_attempt.used_output_tokens;
    v_actual  bigint := case
        when v_attempt.finished_at is not null and v_attempt.is_usage_known then v_used
        when v_attempt.used_calls = 0 and p_is_release then 0
        else greatest(v_attempt.charged_tokens, v_used)
    end;
begin
    if v_attempt.charged_tokens is null or v_actual = v_attempt.charged_tokens then
        return;
    end if;
    insert into forebay.agent_settlements (agent, tokens, settled_at)
    select v_attempt.agent, v_attempt.charged_tokens - v_actual, forebay._now()
    from forebay.agent_budgets as b
    where b.agent = v_attempt.agent and b.limited_since <= v_attempt.started_at;
    update forebay.task_attempts as a set charged_tokens = v_actual where a.attempt_id = p_attempt_id;
end;
$function$;

comment on function forebay._settle is 'Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.';
