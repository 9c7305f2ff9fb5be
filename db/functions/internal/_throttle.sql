create or replace function forebay._throttle(p_agent forebay.agents, p_now timestamptz)
    returns forebay.throttle
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a provider's refusals mean for the agent at p_now.
begin
    return (null, null, 1, null)::forebay.throttle;
end;
$function$;

comment on function forebay._throttle is 'What a provider''s refusals mean for the agent at p_now.';
