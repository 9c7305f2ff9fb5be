create or replace function forebay.release(p_attempt_id bigint, p_reason text, p_retry_in interval default '0')
    returns text
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
-- Hand a task back without spending the attempt: the launch was refused, or the worker shuts down.
--
-- Without reported usage the whole charge of tokens is refunded; max_rpm counts the claim all the same. The machine of an
-- attempt that had no run cost nothing. After the agent's max_releases a release spends an attempt. An attempt that no
-- longer holds the task changes nothing, but is known to have stopped; a cancelled one is refunded too.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the task, then the attempt
-- Errors     22023  an argument is null, or p_retry_in is negative
--            QF304  there is no such attempt
-- Called by  forebay_worker
declare
    v_held     forebay.held_attempt;
    v_agent    forebay.agents;
    v_is_spent boolean;
    v_now      timestamptz;
begin
    perform forebay._require_delay(p_retry_in, 'p_retry_in');
    if p_retry_in is null or p_reason is null then
        raise exception 'p_reason and p_retry_in must not be null' using errcode = '22023';
    end if;
    v_held := forebay._lock_attempt(p_attempt_id);
    v_now := forebay._now();
    if (v_held.attempt).finished_at is not null then
        update forebay.task_attempts as a set is_stop_pending = false where a.attempt_id = p_attempt_id;
        perform forebay._settle(
            p_attempt_id, (v_held.attempt).status = 'cancelled' and (v_held.attempt).is_stop_pending
        );
        return (v_held.task).status;
    end if;

    v_agent := forebay._get_agent((v_held.attempt).agent);
    v_is_spent := (v_held.task).release_count >= v_agent.max_releases;
    update forebay.task_attempts as a
    set status = 'released', finished_at = greatest(v_now, a.started_at), expected_usd = 0,
        error = jsonb_build_object('kind', 'released', 'message', left(p_reason, 2000))
    where a.attempt_id = p_attempt_id;
    perform forebay._add_compute(array[p_attempt_id]);
    perform forebay._settle(p_attempt_id, true);
    return forebay._give_back(
        v_held.task, v_agent,
        jsonb_build_object('kind', 'infrastructure', 'message', format('handed back too often: %s', left(p_reason, 2000))),
        true, p_retry_in, not v_is_spent
    );
end;
$function$;

comment on function forebay.release is 'Hand a task back without spending the attempt: the launch was refused, or the worker shuts down.';
