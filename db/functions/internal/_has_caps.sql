create or replace function forebay._has_caps(p_agent forebay.agents)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether money could keep a task of the agent from starting: the agent has a cap, or any customer has.
select p_agent.max_usd_per_day is not null or forebay._has_customer_caps();
$function$;

comment on function forebay._has_caps is 'Whether money could keep a task of the agent from starting: the agent has a cap, or any customer has.';
