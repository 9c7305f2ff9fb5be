create or replace function forebay._levels(
    p_agent      forebay.agents,
    p_now        timestamptz,
    out tokens   numeric,
    out requests numeric,
    out folded   bigint[]
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The levels of the agent's two buckets as of p_now, with its settlements folded in at the moment each was made.
--
-- Returns  null levels where there is no such limit; folded: the settlements that the level contains
declare
    v_budget     forebay.agent_budgets;
    v_settlement forebay.agent_settlements;
    v_burst      numeric := forebay._token_burst(p_agent);
    v_at         timestamptz;
begin
    select b.* into v_budget from forebay.agent_budgets as b where b.agent = p_agent.agent;
    requests := forebay._refill(
        v_budget.requests, forebay._request_burst(p_agent), p_agent.max_rpm, v_budget.refilled_at, p_now
    );
    if p_agent.max_tpm is null then
        return;
    end if;

    tokens := v_budget.tokens;
    v_at := v_budget.refilled_at;
    for v_settlement in
        select s.* from forebay.agent_settlements as s
        where s.agent = p_agent.agent
        order by s.settled_at, s.settlement_id
    loop
        tokens := forebay._refill(tokens, v_burst, p_agent.max_tpm, v_at, v_settlement.settled_at);
        tokens := least(v_burst, tokens + v_settlement.tokens);
        v_at := greatest(v_at, v_settlement.settled_at);
        folded := folded || v_settlement.settlement_id;
    end loop;
    tokens := forebay._refill(tokens, v_burst, p_agent.max_tpm, v_at, p_now);
end;
$function$;

comment on function forebay._levels is 'The levels of the agent''s two buckets as of p_now, with its settlements folded in at the moment each was made.';
