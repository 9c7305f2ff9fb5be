create or replace function forebay.report_usage(p_attempt_id bigint, p_usage jsonb)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Record what an attempt's model calls used, at any time, once per source and call id.
--
-- p_usage is an object or an array of them: call_id (required), source (agent or trace), model, input_tokens,
-- output_tokens, cached_tokens (part of the input), pages, cost_usd, list_usd (counts where no price is registered),
-- started_at, latency_ms, trace_id, is_cumulative. A missing number is unknown, not zero. The same call again: the first
-- numbers win, unknown ones are filled. A call that may_call let go is closed, and its charge replaced by what it used.
--
-- is_cumulative: the numbers are not of one call, but of all that its session, whose id is call_id, has used so far. The largest
-- count. A later attempt of the task that goes on with the session gets what came on top.
--
-- Returns    how many calls were new or filled
-- Writes     forebay.attempt_usage, forebay.task_attempts, forebay.tasks, forebay.attempt_calls, forebay.quota_settlements,
--            forebay.agent_settlements, forebay.spend_entries
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_attempt_id is null, p_usage is neither, or a key is missing, of a wrong type, or negative; nothing is recorded then
--            QF304  there is no such attempt
-- Called by  forebay_agent
declare
    v_attempt forebay.task_attempts;
    v_usage   jsonb;
    v_changed integer := 0;
begin
    if coalesce(jsonb_typeof(p_usage), 'null') not in ('object', 'array') then
        raise exception 'p_usage must be a JSON object, or an array of them' using errcode = '22023';
    end if;
    v_attempt := (forebay._lock_attempt(p_attempt_id)).attempt;

    for v_usage in
        select elements.value
        from jsonb_array_elements(case jsonb_typeof(p_usage) when 'array' then p_usage else jsonb_build_array(p_usage) end)
            as elements
    loop
        v_changed := v_changed + forebay._take_usage(v_attempt, forebay._parse_usage(v_usage))::integer;
    end loop;
    if v_changed = 0 then
        return 0;
    end if;
    perform forebay._count_usage(p_attempt_id);
    return v_changed;
end;
$function$;

comment on function forebay.report_usage is 'Record what an attempt''s model calls used, at any time, once per source and call id.';
