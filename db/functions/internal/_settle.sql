create or replace function forebay._settle(p_attempt forebay.task_attempts, p_is_release boolean default false)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.
--
-- Unknown usage keeps the charge, unless more than the charge is known already. A release that reported nothing used nothing.
--
-- Writes  forebay.agent_settlements, forebay.task_attempts.charged_tokens
declare
    v_usage  record;
    v_actual bigint;
begin
    if p_attempt.charged_tokens is null then
        return;
    end if;
    select u.tokens, u.is_complete into v_usage from forebay._usage_tokens(p_attempt.attempt_id) as u;
    v_actual := case
        when v_usage.is_complete then v_usage.tokens
        when v_usage.is_complete is null and p_is_release then 0
        else greatest(p_attempt.charged_tokens, v_usage.tokens)
    end;
    if v_actual is distinct from p_attempt.charged_tokens then
        insert into forebay.agent_settlements (agent, tokens, settled_at)
        select p_attempt.agent, p_attempt.charged_tokens - v_actual, forebay._now()
        from forebay.agent_budgets as b
        where b.agent = p_attempt.agent and b.limited_since <= p_attempt.started_at;
        update forebay.task_attempts as a set charged_tokens = v_actual where a.attempt_id = p_attempt.attempt_id;
    end if;
end;
$function$;

comment on function forebay._settle is 'Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.';
