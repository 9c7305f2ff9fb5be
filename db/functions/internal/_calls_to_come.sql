create or replace function forebay._calls_to_come(
    p_quotas          text[],
    p_now             timestamptz,
    out quotas        text[],
    out input_tokens  numeric,
    out output_tokens numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The calls that will come at once from attempts in flight on the quotas: one that waits, or the first of an attempt.
--
-- A caller that is late to ask again may still come, for a minute: one that has lost its place is not gone yet.
-- Agent by agent, whatever the statistics say (offset 0): what others have in flight is not read.
--
-- Returns  one row a call; an attempt between its calls has none
begin
    return query
    select
        g.quotas, coalesce(a.call_input_tokens, (of_attempt.first_call).input_tokens)::numeric,
        coalesce(a.call_output_tokens, (of_attempt.first_call).output_tokens)::numeric
    from forebay.agents as g
    cross join lateral (
        select o.* from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null offset 0
    ) as a
    cross join lateral (
        select forebay._first_call(
            (a.expected_calls, a.expected_input_tokens, a.expected_output_tokens, null)::forebay.expected_use
        ) as first_call
    ) as of_attempt
    where g.quotas && p_quotas
        and (a.call_wait_until > p_now - interval '1 minute' or (not a.asks_first and a.used_calls = 0));
end;
$function$;

comment on function forebay._calls_to_come is 'The calls that will come at once from attempts in flight on the quotas: one that waits, or the first of an attempt.';
