create or replace function forebay._take_turns(p_agent forebay.agents, p_line forebay.lined_up[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Count what the tasks of p_line, which are about to start, will use for their customers, and move the agent's turn on.
--
-- The turn is the least count of those that wait: a customer that comes, or comes back, starts from there. So counts that it
-- has reached say nothing any more, and are removed.
--
-- Writes  forebay.customer_turns, forebay.agent_budgets
declare
    v_old numeric := (select b.turn from forebay.agent_budgets as b where b.agent = p_agent.agent);
    v_new numeric;
begin
    insert into forebay.customer_turns as c (agent, customer, served)
    select p_agent.agent, coalesce(l.customer, ''), v_old + sum(forebay._turn_cost(l.uses))
    from unnest(p_line) as l
    group by coalesce(l.customer, '')
    on conflict (agent, customer) do update set served = c.served + excluded.served - v_old;

    v_new := (
        select min(coalesce(c.served, v_old))
        from forebay._customer_priorities(p_agent.agent) as w
        left join forebay.customer_turns as c on c.agent = p_agent.agent and c.customer = coalesce(w.customer, '')
    );
    if v_new > v_old then
        update forebay.agent_budgets as b set turn = v_new where b.agent = p_agent.agent;
        delete from forebay.customer_turns as c where c.agent = p_agent.agent and c.served <= v_new;
    end if;
end;
$function$;

comment on function forebay._take_turns is 'Count what the tasks of p_line, which are about to start, will use for their customers, and move the agent''s turn on.';
