create or replace function forebay._caps(p_agent forebay.agents, p_customers text[], p_now timestamptz)
    returns setof forebay.spend_cap
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The caps of today on the agent and on the customers, with what recorded and projected cost leave of each.
begin
    return;
end;
$function$;

comment on function forebay._caps is 'The caps of today on the agent and on the customers, with what recorded and projected cost leave of each.';
