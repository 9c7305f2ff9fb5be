create or replace function forebay._last_minute(p_agent text, p_now timestamptz, out starts bigint, out tokens bigint)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks were started within the last minute, and how many tokens its calls of that minute used.
--
-- Calls count when they are reported. Those of an attempt that ran for over a minute and did not succeed leave with its end.
declare
    v_since timestamptz := p_now - interval '1 minute';
begin
    select count(*) into starts
    from forebay.task_attempts as a
    where a.agent = p_agent and a.started_at > v_since;

    select coalesce(sum(coalesce(u.input_tokens, 0) + coalesce(u.output_tokens, 0)), 0)::bigint into tokens
    from (
        select a.attempt_id, a.started_at from forebay.task_attempts as a where a.agent = p_agent and a.finished_at is null
        union
        select a.attempt_id, a.started_at from forebay.task_attempts as a where a.agent = p_agent and a.started_at > v_since
        union
        select a.attempt_id, a.started_at from forebay.task_attempts as a
        where a.agent = p_agent and a.finished_at > v_since and a.status = 'succeeded' and a.is_usage_known
    ) as recent
    inner join forebay.attempt_usage as u
        on u.attempt_id = recent.attempt_id and u.source = forebay._usage_source(recent.attempt_id)
    where forebay._called_at(u, recent.started_at) > v_since;
end;
$function$;

comment on function forebay._last_minute is
'How many of the agent''s tasks were started within the last minute, and how many tokens its calls of that minute used.';
