create or replace function forebay._in_flight(
    p_quota       text,
    p_unit        text,
    out asking    numeric,
    out unused    numeric,
    out per_second numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What each attempt in flight on the quota will still use of a unit.
--
-- An attempt that has ended uses nothing more; what it was charged stays charged.
--
-- Returns  one row an attempt: asking, the call that it waits for or will begin with; unused, what is left of what it was
--          expected to use; per_second, how fast it uses that, null when the agent's pace is not known
begin
    return query
    select
        forebay._in_unit(p_unit, next.calls, next.input_tokens, next.output_tokens),
        forebay._in_unit(p_unit, rest.calls, rest.input_tokens, rest.output_tokens),
        forebay._in_unit(p_unit, rest.calls, rest.input_tokens, rest.output_tokens)
        * learned.tokens_per_second / nullif(rest.input_tokens + rest.output_tokens, 0)
    from forebay.agents as g
    cross join lateral forebay._learned(g.agent) as learned
    inner join forebay.task_attempts as a on a.agent = g.agent and a.finished_at is null
    cross join lateral forebay._next_call(a) as next
    cross join lateral forebay._remaining(a) as rest
    where p_quota = any(g.quotas);
end;
$function$;

comment on function forebay._in_flight is 'What each attempt in flight on the quota will still use of a unit.';
