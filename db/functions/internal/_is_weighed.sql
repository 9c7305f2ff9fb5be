create or replace function forebay._is_weighed(p_agent forebay.agents)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether what a task will use decides if it may start: by the agent's bucket, its quotas, or anybody's spend cap.
select p_agent.max_tpm is not null or p_agent.quotas <> '{}' or forebay._has_caps(p_agent);
$function$;

comment on function forebay._is_weighed is 'Whether what a task will use decides if it may start: by the agent''s bucket, its quotas, or anybody''s spend cap.';
