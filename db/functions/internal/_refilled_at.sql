create or replace function forebay._refilled_at(p_agent forebay.agents, p_tokens bigint, p_now timestamptz)
    returns timestamptz
    language sql
    stable
    security invoker
as $function$
-- When the agent's bucket will hold p_tokens, or be full if it cannot, in 100 years at most; p_tokens null asks for a claim.
select p_now + make_interval(secs => least(case
    when p_tokens is null then (1 - levels.requests) * 60 / p_agent.max_rpm
    else (least(p_tokens, forebay._token_burst(p_agent)) - levels.tokens) * 60 / p_agent.max_tpm
end, 3155760000)::double precision)
from forebay._levels(p_agent, p_now) as levels;
$function$;

comment on function forebay._refilled_at is 'When the agent''s bucket will hold p_tokens, or be full if it cannot, in 100 years at most; p_tokens null asks for a claim.';
