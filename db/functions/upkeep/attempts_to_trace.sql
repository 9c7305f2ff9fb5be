create or replace function forebay.attempts_to_trace(p_limit integer default 100)
    returns setof forebay.attempt_to_trace
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set jit = off
as $function$
-- Hand out ended attempts whose traces are to be looked for now: commit, look, and call record_traces for each.
--
-- One that is not recorded within two minutes is handed out again, to whoever asks. The first time that anybody asks, those
-- are meant that ended within seven days. One that was given back before any call has no traces. A trace that several attempts
-- name is handed out for none of them. In a copy that nobody has opened there is nothing to look for.
--
-- Returns    at most p_limit rows, in the order that they are due; an attempt ran from started_at to finished_at
-- Writes     forebay.attempt_traces
-- Locks      those of the rows that it hands out, skipping what somebody else holds
-- Errors     22023  p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
declare
    v_now   timestamptz := forebay._now();
    v_since timestamptz;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if not forebay._may_dispatch() then
        return;
    end if;
    -- Whoever ended an attempt may have committed after others that ended a little later.
    select coalesce(max(t.ended_at) - interval '15 minutes', v_now - interval '7 days') into v_since
    from forebay.attempt_traces as t;
    insert into forebay.attempt_traces (attempt_id, ended_at, next_look_at)
    select a.attempt_id, a.finished_at, v_now
    from forebay.task_attempts as a
    where a.finished_at >= v_since and not (a.status = 'released' and a.used_calls = 0)
        and not exists (select from forebay.attempt_traces as t where t.attempt_id = a.attempt_id)
    order by a.finished_at, a.attempt_id
    limit p_limit
    on conflict do nothing;

    return query
    with due as (
        select t.attempt_id, t.next_look_at from forebay.attempt_traces as t
        where t.next_look_at <= v_now
        order by t.next_look_at, t.attempt_id
        limit p_limit
        for no key update skip locked
    ), leased as (
        update forebay.attempt_traces as t
        set next_look_at = v_now + interval '2 minutes'
        from due as d
        where t.attempt_id = d.attempt_id
        returning t.attempt_id, d.next_look_at as due_at
    )
    select
        a.attempt_id, a.task_id, encode(sha256(convert_to(a.launch_token, 'UTF8')), 'hex'),
        case when not forebay._is_shared_trace(a) then a.trace_id end, a.started_at, a.finished_at
    from leased as l
    inner join forebay.task_attempts as a on a.attempt_id = l.attempt_id
    order by l.due_at, a.attempt_id;
end;
$function$;

comment on function forebay.attempts_to_trace is
'Hand out ended attempts whose traces are to be looked for now: commit, look, and call record_traces for each.';
