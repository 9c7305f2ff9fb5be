create or replace function forebay._lock_end_of_line(p_agent forebay.agents)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Let one transaction at a time add to the line of an agent that has max_waiting.
--
-- Errors  25001  the transaction is not READ COMMITTED: it could not count what others added
begin
    perform forebay._require_read_committed(format('adding to the bounded line of agent "%s"', p_agent.agent));
    perform pg_advisory_xact_lock(hashtextextended('forebay.end of line ' || p_agent.agent, 0));
end;
$function$;

comment on function forebay._lock_end_of_line is 'Let one transaction at a time add to the line of an agent that has max_waiting.';
