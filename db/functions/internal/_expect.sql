create or replace function forebay._expect(p_agent forebay.agents, p_learned forebay.learned, p_estimated_tokens bigint)
    returns forebay.expected_use
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an attempt at a task of that estimate is expected to use.
--
-- Without an estimate (null) that is the agent's typical use, and before it has one its default_estimated_tokens.
declare
    v_estimate bigint := coalesce(p_estimated_tokens, p_agent.default_estimated_tokens);
    v_input    bigint := (v_estimate * p_learned.input_permille + 999) / 1000;
    v_tokens   bigint := (v_estimate * (p_learned.input_permille + p_learned.output_permille) + 999) / 1000;
begin
    if p_estimated_tokens is null and p_learned.typical_input is not null then
        v_input := p_learned.typical_input;
        v_tokens := p_learned.typical_input + p_learned.typical_output;
    end if;
    return (
        greatest(1, p_learned.calls), v_input, v_tokens - v_input,
        v_tokens * coalesce(p_learned.usd_per_m_tokens, 0) * 0.000001
    )::forebay.expected_use;
end;
$function$;

comment on function forebay._expect is 'What an attempt at a task of that estimate is expected to use.';
