create or replace function forebay._part_of_session(p_attempt forebay.task_attempts, p_call forebay.attempt_usage)
    returns forebay.attempt_usage
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Of what a session used so far, the attempt's part: without that of earlier attempts of its task; null once a later one told of it.
--
-- For the numbers of that one have all that came before in them.
declare
    v_others  forebay.attempt_usage;
    v_is_late boolean;
begin
    select
        max(a.attempt_id) > p_attempt.attempt_id,
        sum(u.input_tokens)::bigint, sum(u.output_tokens)::bigint, sum(u.cached_tokens)::bigint,
        sum(u.pages), sum(u.cost_usd), sum(u.list_usd)
    into
        v_is_late, v_others.input_tokens, v_others.output_tokens, v_others.cached_tokens,
        v_others.pages, v_others.cost_usd, v_others.list_usd
    from forebay.task_attempts as a
    inner join forebay.attempt_usage as u on u.attempt_id = a.attempt_id
    where a.task_id = p_attempt.task_id and a.attempt_id <> p_attempt.attempt_id
        and u.source = p_call.source and u.call_id = p_call.call_id and u.is_cumulative;
    if v_is_late then
        return null;
    end if;
    p_call.input_tokens := forebay._beyond(p_call.input_tokens, v_others.input_tokens)::bigint;
    p_call.output_tokens := forebay._beyond(p_call.output_tokens, v_others.output_tokens)::bigint;
    p_call.cached_tokens := forebay._beyond(p_call.cached_tokens, v_others.cached_tokens)::bigint;
    p_call.pages := forebay._beyond(p_call.pages, v_others.pages);
    p_call.cost_usd := forebay._beyond(p_call.cost_usd, v_others.cost_usd);
    p_call.list_usd := forebay._beyond(p_call.list_usd, v_others.list_usd);
    return p_call;
end;
$function$;

comment on function forebay._part_of_session is
'Of what a session used so far, the attempt''s part: without that of earlier attempts of its task; null once a later one told of it.';
