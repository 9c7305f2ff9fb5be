create or replace function forebay._unused(p_attempt forebay.task_attempts)
    returns forebay.expected_use
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an attempt in flight is still expected to use, beyond what it used and what its open calls were granted.
begin
    return (
        select (
            greatest(0, p_attempt.expected_calls - p_attempt.used_calls - count(*)),
            greatest(0, p_attempt.expected_input_tokens - p_attempt.used_input_tokens - coalesce(sum(c.input_tokens), 0)),
            greatest(0, p_attempt.expected_output_tokens - p_attempt.used_output_tokens - coalesce(sum(c.output_tokens), 0)),
            greatest(0, p_attempt.expected_usd - coalesce(p_attempt.cost_usd, 0))
        )::forebay.expected_use
        from forebay.attempt_calls as c
        where c.attempt_id = p_attempt.attempt_id
    );
end;
$function$;

comment on function forebay._unused is 'What an attempt in flight is still expected to use, beyond what it used and what its open calls were granted.';
