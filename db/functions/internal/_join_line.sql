create or replace function forebay._join_line(p_agents text[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take the lines of the agents for adding tasks to them, beside others who do: their definitions stay as they are until commit.
--
-- Where the transaction looks at an older state than that of now, an agent that was defined anew since raises 40001: a task
-- must not join a line that is not kept that way any more.
--
-- Locks   the agents' lines, shared, by name
-- Errors  40001  the transaction is not READ COMMITTED, and an agent was defined anew since it began
begin
    perform pg_advisory_xact_lock_shared(forebay._line_key(names.agent))
    from (select n.agent from unnest(p_agents) as n (agent) group by n.agent order by n.agent) as names;
    if current_setting('transaction_isolation') <> 'read committed' then
        perform 1 from forebay.agents as a where a.agent = any(p_agents) order by a.agent for share;
    end if;
end;
$function$;

comment on function forebay._join_line is 'Take the lines of the agents for adding tasks to them, beside others who do: their definitions stay as they are until commit.';
