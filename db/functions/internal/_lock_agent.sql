create or replace function forebay._lock_agent(p_agent text, p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the agent to admit for it: alone, by its budget row, when it has limits; beside others when there is nothing to count.
--
-- The shared lock of an agent without limits is an advisory one, since a shared row lock would write; _lock_definition
-- excludes both. Whether there are limits is read again under the lock: a first one may have come meanwhile.
--
-- Errors  55P03  somebody else holds it, and p_waits is false
declare
    v_is_limited boolean := forebay._is_limited(forebay._get_agent(p_agent))
        or forebay._is_limited(forebay._get_effective(p_agent, forebay._now()));
begin
    if v_is_limited and p_waits then
        perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update;
    elsif v_is_limited then
        perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update nowait;
    elsif p_waits then
        perform pg_advisory_xact_lock_shared(forebay._agent_key(p_agent));
    elsif not pg_try_advisory_xact_lock_shared(forebay._agent_key(p_agent)) then
        raise lock_not_available using message = format('agent "%s" is being changed', p_agent);
    end if;
    if not v_is_limited and forebay._is_limited(forebay._get_agent(p_agent)) then
        perform forebay._lock_agent(p_agent, p_waits);
    end if;
end;
$function$;

comment on function forebay._lock_agent is 'Lock the agent to admit for it: alone, by its budget row, when it has limits; beside others when there is nothing to count.';
