create or replace function forebay._lock_quotas(p_agent forebay.agents, p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the quotas that the agent draws on, by name, and fold in what was settled meanwhile.
--
-- The lock is a statement of its own: what is read after it holds all that earlier holders wrote.
--
-- Writes  forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements
-- Locks   the quotas, by name
-- Errors  55P03  somebody else holds one, and p_waits is false
declare
    v_quota text;
begin
    if p_agent.quotas = '{}' then
        return;
    elsif p_waits then
        perform 1 from forebay.quotas as q where q.quota = any(p_agent.quotas) order by q.quota for no key update;
    else
        perform 1 from forebay.quotas as q where q.quota = any(p_agent.quotas) order by q.quota for no key update nowait;
    end if;
    foreach v_quota in array p_agent.quotas loop
        perform forebay._fold_quota(v_quota, forebay._now());
    end loop;
end;
$function$;

comment on function forebay._lock_quotas is 'Lock the quotas that the agent draws on, by name, and fold in what was settled meanwhile.';
