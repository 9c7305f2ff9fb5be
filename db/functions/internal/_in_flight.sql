create or replace function forebay._in_flight(
    p_quotas            text[],
    out quotas          text[],
    out attempt_id      bigint,
    out calls           numeric,
    out input_tokens    numeric,
    out output_tokens   numeric,
    out share_per_second numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What each attempt in flight that draws on one of the quotas is still expected to use, beyond what it used and was granted.
--
-- An attempt that has ended, its grants too, uses nothing more; what it was charged stays charged.
--
-- Returns  one row an attempt; share_per_second of what is left is used each second, null when the pace is not known
begin
    return query
    select g.quotas, a.attempt_id, rest.calls, rest.input_tokens, rest.output_tokens,
        learned.tokens_per_second / nullif(rest.input_tokens + rest.output_tokens, 0)
    from forebay.agents as g
    cross join lateral forebay._learned(g.agent) as learned
    inner join forebay.task_attempts as a on a.agent = g.agent and a.finished_at is null
    cross join lateral (
        select count(*) as calls, coalesce(sum(c.input_tokens), 0) as input_tokens, coalesce(sum(c.output_tokens), 0) as output_tokens
        from forebay.attempt_calls as c
        where c.attempt_id = a.attempt_id
    ) as granted
    cross join lateral (
        select
            greatest(0, a.expected_calls - a.used_calls - granted.calls) as calls,
            greatest(0, a.expected_input_tokens - a.used_input_tokens - granted.input_tokens) as input_tokens,
            greatest(0, a.expected_output_tokens - a.used_output_tokens - granted.output_tokens) as output_tokens
    ) as rest
    where g.quotas && p_quotas;
end;
$function$;

comment on function forebay._in_flight is 'What each attempt in flight that draws on one of the quotas is still expected to use, beyond what it used and was granted.';
