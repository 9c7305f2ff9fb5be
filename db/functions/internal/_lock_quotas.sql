create or replace function forebay._lock_quotas(p_agent forebay.agents, p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the quotas that the agent draws on, by name.
begin
    return;
end;
$function$;

comment on function forebay._lock_quotas is 'Lock the quotas that the agent draws on, by name.';
