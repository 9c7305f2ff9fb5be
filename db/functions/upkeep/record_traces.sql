create or replace function forebay.record_traces(
    p_attempt_id bigint,
    p_calls      jsonb,
    p_traces     integer default 0,
    p_is_whole   boolean default false
)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record what a look for an attempt's traces found, and say whether it goes on: found, partial, awaited or missing.
--
-- p_calls are calls as report_usage takes them; their source is trace. They are all that the traces named in them (trace_id)
-- tell of: what a later look sees replaces what was seen before, and what it does not see any more is dropped. p_traces
-- says how many traces there were, p_is_whole that all of them had ended and were read to their end: else the usage
-- that they tell is not known as a whole. Traces are found when they also tell of as many calls as the attempt itself, and of
-- one at least: a trace may be stored without what is in it. Else there are more looks, with longer and longer waits, and at
-- last none. The same look again changes nothing that was used.
--
-- Returns    one word; missing: nothing came and nobody looks any more
-- Writes     forebay.attempt_traces, and what report_usage writes
-- Locks      the task, then its attempts, by id, then rows of attempt_traces, by id
-- Errors     22023  p_attempt_id, p_calls, p_traces or p_is_whole is null, p_traces is negative, or a call is bad; nothing is recorded then
--            QF304  there is no such attempt
-- Called by  forebay_upkeep
declare
    v_attempt forebay.task_attempts;
    v_traces  forebay.attempt_traces;
    v_now     timestamptz;
begin
    if p_traces is null or p_traces < 0 or p_is_whole is null then
        raise exception 'p_traces must not be null or negative, nor p_is_whole null' using errcode = '22023';
    end if;
    if jsonb_typeof(p_calls) is distinct from 'array' then
        raise exception 'p_calls must be a JSON array' using errcode = '22023';
    end if;
    perform forebay._take_look((forebay._lock_attempt(p_attempt_id)).attempt, p_calls, not p_is_whole);
    v_attempt := forebay._get_attempt(p_attempt_id);
    perform forebay._share_trace(v_attempt);
    v_now := forebay._now();

    insert into forebay.attempt_traces as t (attempt_id, ended_at, looks, traces, is_whole)
    values (
        p_attempt_id, coalesce(v_attempt.finished_at, v_now), 1, p_traces,
        p_is_whole and p_traces > 0
        and forebay._known_calls(p_attempt_id, 'trace') >= greatest(1, forebay._known_calls(p_attempt_id, 'agent'))
    )
    on conflict (attempt_id) do update set
        looks = t.looks + 1, traces = greatest(t.traces, excluded.traces),
        is_whole = excluded.is_whole
            or (t.is_whole and p_traces = 0 and forebay._known_calls(p_attempt_id, 'trace') > 0)
    returning t.* into v_traces;
    if not v_traces.is_whole then
        v_traces.next_look_at := v_now + forebay._trace_wait(
            v_traces.looks, v_traces.traces > 0 or v_attempt.trace_id is not null or not v_attempt.is_usage_known
        );
    else
        v_traces.next_look_at := null;
    end if;
    update forebay.attempt_traces as t
    set next_look_at = v_traces.next_look_at
    where t.attempt_id = p_attempt_id;
    return forebay._trace_state(v_traces);
end;
$function$;

comment on function forebay.record_traces is
'Record what a look for an attempt''s traces found, and say whether it goes on: found, partial, awaited or missing.';
