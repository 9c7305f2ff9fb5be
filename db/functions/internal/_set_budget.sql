create or replace function forebay._set_budget(p_old forebay.agents, p_new forebay.agents, p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give an agent the buckets of its new definition: a level is kept, cut to the new burst; a first limit starts full.
--
-- Writes  forebay.agent_budgets, forebay.agent_settlements
declare
    v_levels record;
begin
    select l.* into v_levels from forebay._levels(p_old, p_now) as l;
    insert into forebay.agent_budgets as b (agent, tokens, requests, refilled_at, limited_since)
    values (
        p_new.agent,
        case when p_new.max_tpm is not null then least(v_levels.tokens, forebay._token_burst(p_new)) end,
        case when p_new.max_rpm is not null then least(v_levels.requests, forebay._request_burst(p_new)) end,
        p_now,
        case when p_new.max_tpm is not null then p_now end
    )
    on conflict (agent) do update set
        tokens = excluded.tokens, requests = excluded.requests, refilled_at = excluded.refilled_at,
        limited_since = case
            when v_levels.tokens is null or p_new.max_tpm is null then excluded.limited_since
            else b.limited_since
        end;
    delete from forebay.agent_settlements as s
    where s.agent = p_new.agent and (p_new.max_tpm is null or s.settlement_id = any(v_levels.folded));
end;
$function$;

comment on function forebay._set_budget is 'Give an agent the buckets of its new definition: a level is kept, cut to the new burst; a first limit starts full.';
