create or replace function forebay._pay(p_agent forebay.agents, p_line forebay.lined_up[], p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take what the tasks are expected to use from the agent's buckets.
--
-- Writes  forebay.agent_budgets, forebay.agent_settlements
declare
    v_levels record;
begin
    if p_agent.max_tpm is null and p_agent.max_rpm is null then
        return;
    end if;
    select l.* into v_levels from forebay._levels(p_agent, p_now) as l;
    update forebay.agent_budgets as b
    set tokens = v_levels.tokens - bill.tokens, requests = v_levels.requests - cardinality(p_line), refilled_at = p_now
    from (
        select sum((l.uses).input_tokens + (l.uses).output_tokens) as tokens from unnest(p_line) as l
    ) as bill
    where b.agent = p_agent.agent;
    delete from forebay.agent_settlements as s where s.settlement_id = any(v_levels.folded);
end;
$function$;

comment on function forebay._pay is 'Take what the tasks are expected to use from the agent''s buckets.';
