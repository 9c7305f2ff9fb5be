create or replace function forebay._end_observed(
    p_attempt forebay.task_attempts,
    p_task    forebay.tasks,
    p_agent   forebay.agents,
    p_outcome forebay.run_outcomes,
    p_now     timestamptz
)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End an open attempt whose run was seen in a state that does not renew, or whose deadline has passed; the caller holds it.
--
-- What never started waits longer each time, as a failure does: a quota of the workspace is waited for. Of what never ran it
-- is known that it used and cost nothing. A run that was not seen to end is to be cancelled; what it used is not known.
--
-- Returns  what was done: retry, requeue, pause_agent, or fail when the task failed by it
-- Writes   forebay.task_attempts, forebay.tasks, forebay.agent_settlements
declare
    v_is_late    boolean := p_attempt.deadline_at <= p_now;
    v_is_unspent boolean := not v_is_late and p_outcome.outcome in ('requeue', 'pause_agent');
    v_is_unused  boolean := v_is_unspent and p_attempt.run_ended_at is not null;
    v_is_release boolean := v_is_unspent and p_task.release_count < p_agent.max_releases;
    v_error      jsonb := case
        when v_is_late then forebay._expiry_error(p_attempt, p_now)
        else jsonb_build_object(
            'kind', 'infrastructure', 'message', forebay._run_words(p_attempt.run_state), 'run_id', p_attempt.run_id
        )
    end;
    v_ended      forebay.task_attempts;
    v_status     text;
begin
    update forebay.task_attempts as a
    set status = case
            when v_is_unspent then 'released'
            when v_is_late or p_outcome.outcome = 'fail' then 'failed'
            else 'lost'
        end,
        error = v_error, finished_at = greatest(p_now, a.started_at), is_stop_pending = a.run_ended_at is null,
        expected_usd = case when v_is_unused then 0 else a.expected_usd end
    where a.attempt_id = p_attempt.attempt_id
    returning a.* into v_ended;
    if forebay._never_ran(v_ended) then
        update forebay.task_attempts as a
        set expected_usd = 0, is_usage_known = true, is_cost_known = true
        where a.attempt_id = v_ended.attempt_id;
    end if;
    perform forebay._add_compute(array[v_ended.attempt_id]);
    if v_is_unused or forebay._never_ran(v_ended) then
        perform forebay._settle(p_attempt.attempt_id, true);
    end if;
    v_status := forebay._give_back(
        p_task, p_agent, v_error,
        v_is_late or p_outcome.outcome <> 'fail' and (v_is_unspent or p_agent.on_lost_lease = 'retry'),
        case when v_is_release then forebay._backoff(p_agent.backoff_base, p_agent.backoff_max, p_task.release_count + 1) end,
        v_is_release
    );
    return case when v_status = 'failed' then 'fail' when v_is_late then 'retry' else p_outcome.outcome end;
end;
$function$;

comment on function forebay._end_observed is 'End an open attempt whose run was seen in a state that does not renew, or whose deadline has passed; the caller holds it.';
