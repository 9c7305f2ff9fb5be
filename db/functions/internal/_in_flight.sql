create or replace function forebay._in_flight(
    p_quotas          text[],
    out quotas        text[],
    out pace          numeric,
    out calls         numeric,
    out input_tokens  numeric,
    out output_tokens numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What each attempt in flight that draws on one of the quotas is still expected to use.
--
-- An attempt that has ended uses nothing more; what it was charged stays charged.
--
-- Agent by agent, whatever the statistics say (offset 0): what others have in flight is not read.
--
-- Returns  one row an attempt; pace is how many tokens it uses in a second, null when that is not known
begin
    return query
    select
        g.quotas, learned.tokens_per_second, rest.calls, rest.input_tokens, rest.output_tokens
    from forebay.agents as g
    cross join lateral forebay._learned(g.agent) as learned
    cross join lateral (
        select o as attempt from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null offset 0
    ) as flight
    cross join lateral forebay._remaining(flight.attempt) as rest
    where g.quotas && p_quotas;
end;
$function$;

comment on function forebay._in_flight is 'What each attempt in flight that draws on one of the quotas is still expected to use.';
