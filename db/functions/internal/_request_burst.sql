create or replace function forebay._request_burst(p_agent forebay.agents)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How many claims the agent's bucket holds when it is full: 0.8 of max_rpm and at least one; null without max_rpm.
select case when p_agent.max_rpm > 0 then greatest(1, p_agent.max_rpm * 0.8) else p_agent.max_rpm end;
$function$;

comment on function forebay._request_burst is 'How many claims the agent''s bucket holds when it is full: 0.8 of max_rpm and at least one; null without max_rpm.';
