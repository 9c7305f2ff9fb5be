create or replace function forebay._supplied_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit is left to new tasks of an agent that asks before its calls.
--
-- The calls keep the limits by themselves, and a claim only keeps them supplied: there is room for a task while its first
-- call finds room beside the calls that wait and the first calls of those claimed before it, and a tenth of the limit
-- more; and for one whatever its size while none waits. So always a call waits, and what a task uses later does not matter.
--
-- Returns  one row a limit, at 0 seconds
begin
    return query
    with asking as materialized (
        select
            g.quotas,
            coalesce(a.call_input_tokens, ceil(a.expected_input_tokens / greatest(1, a.expected_calls))) as input_tokens,
            coalesce(a.call_output_tokens, ceil(a.expected_output_tokens / greatest(1, a.expected_calls))) as output_tokens
        from forebay.agents as g
        inner join forebay.task_attempts as a on a.agent = g.agent and a.finished_at is null
        where g.quotas && p_agent.quotas and (a.call_asked_at is not null or not a.asks_first)
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, calls.needs = 0, 0::double precision,
        (l.room + greatest(0.1 * l.effective, least(1, l.effective)) - calls.needs)::double precision
    from forebay._quota_limits(p_agent.quotas, p_now) as l
    cross join lateral (
        select coalesce(sum(forebay._in_unit(l.unit, 1, a.input_tokens, a.output_tokens)), 0) as needs
        from asking as a
        where l.quota = any(a.quotas)
    ) as calls;
end;
$function$;

comment on function forebay._supplied_rooms is 'How much of each limit is left to new tasks of an agent that asks before its calls.';
