create or replace function forebay._is_limited(p_agent forebay.agents)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether admission for the agent has anything to count, and so needs the agent's lock.
select p_agent.max_concurrent_tasks is not null or p_agent.max_tpm is not null or p_agent.max_rpm is not null
    or p_agent.quotas <> '{}' or p_agent.max_usd_per_day is not null or p_agent.is_fair_by_customer;
$function$;

comment on function forebay._is_limited is 'Whether admission for the agent has anything to count, and so needs the agent''s lock.';
