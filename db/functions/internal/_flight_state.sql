create or replace function forebay._flight_state(
    p_agent           text,
    p_pace            numeric,
    out tasks         bigint,
    out tokens        bigint,
    out projected_tpm bigint
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks are processing, what they are expected to use, and what they will still use within a minute.
--
-- p_pace is how many tokens a task of the agent uses in a second; null when that is not known: it may use all at once.
begin
    select
        count(*), coalesce(sum(a.expected_input_tokens + a.expected_output_tokens), 0)::bigint,
        ceil(coalesce(sum(forebay._within(rest.tokens, rest.tokens, p_pace, 60)), 0))::bigint
    into tasks, tokens, projected_tpm
    from forebay.task_attempts as a
    cross join lateral (select r.input_tokens + r.output_tokens as tokens from forebay._remaining(a) as r) as rest
    where a.agent = p_agent and a.finished_at is null;
end;
$function$;

comment on function forebay._flight_state is
'How many of the agent''s tasks are processing, what they are expected to use, and what they will still use within a minute.';
