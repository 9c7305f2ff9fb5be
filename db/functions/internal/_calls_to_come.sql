create or replace function forebay._calls_to_come(
    p_quotas          text[],
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
-- Agent by agent, whatever the statistics say (offset 0): what others have in flight is not read.
--
-- Returns  one row a call; an attempt between its calls has none
begin
    return query
    select
        g.quotas,
        coalesce(a.call_input_tokens, ceil(a.expected_input_tokens / greatest(1, a.expected_calls))),
        coalesce(a.call_output_tokens, ceil(a.expected_output_tokens / greatest(1, a.expected_calls)))
    from forebay.agents as g
    cross join lateral (
        select o.* from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null offset 0
    ) as a
    where g.quotas && p_quotas and (a.call_asked_at is not null or (not a.asks_first and a.used_calls = 0));
end;
$function$;

comment on function forebay._calls_to_come is 'The calls that will come at once from attempts in flight on the quotas: one that waits, or the first of an attempt.';
