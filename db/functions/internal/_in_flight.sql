create or replace function forebay._in_flight(
    p_agents             text[],
    out agent            text,
    out attempt_id       bigint,
    out unused           forebay.expected_use,
    out share_per_second numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What each attempt in flight of the agents is still expected to use, and which share of that each second.
--
-- An attempt that has ended uses nothing more; what it was charged stays charged.
--
-- Returns  one row an attempt; share_per_second is null when the agent's pace is not known: it may use all at once
begin
    return query
    select
        names.agent, a.attempt_id, rest.unused,
        learned.tokens_per_second / nullif((rest.unused).input_tokens + (rest.unused).output_tokens, 0)
    from unnest(p_agents) as names (agent)
    cross join lateral forebay._learned(names.agent) as learned
    inner join forebay.task_attempts as a on a.agent = names.agent and a.finished_at is null
    cross join lateral (select forebay._unused(a) as unused) as rest;
end;
$function$;

comment on function forebay._in_flight is 'What each attempt in flight of the agents is still expected to use, and which share of that each second.';
