create or replace function forebay.begin_attempt(p_attempt_id bigint, p_launch_token text, p_run_id text default null)
    returns forebay.claimed_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Fetch the work of an attempt, as the run that was launched for it: dequeue's row, for who knows the launch token.
--
-- p_run_id is the run's own id: it is recorded if the daemon did not come to it, and another run is refused. The same run
-- may ask again.
--
-- Returns    one row
-- Writes     forebay.task_attempts.run_id, status
-- Locks      the attempt
-- Errors     22023  p_attempt_id or p_launch_token is null, or p_run_id is empty or too long
--            QF202  another run is recorded for the attempt
--            QF205  the attempt has ended: there is nothing to do
--            QF304  there is no such attempt, or it has another launch token
--            QF401  this database is a copy
-- Called by  forebay_agent
declare
    v_attempt forebay.task_attempts;
    v_begun   forebay.claimed_attempt;
begin
    if p_launch_token is null then
        raise exception 'p_launch_token must not be null' using errcode = '22023';
    end if;
    perform forebay._require_open();
    perform forebay._get_attempt(p_attempt_id);
    select a.* into v_attempt
    from forebay.task_attempts as a
    where a.attempt_id = p_attempt_id and a.launch_token = p_launch_token
    for no key update;
    if not found then
        raise exception 'attempt % has another launch token', p_attempt_id using errcode = 'QF304';
    end if;
    if v_attempt.finished_at is not null or v_attempt.deadline_at <= forebay._now() then
        raise exception 'attempt % has ended: it is %', p_attempt_id,
            case when v_attempt.finished_at is null then 'past its deadline' else v_attempt.status end
            using errcode = 'QF205', hint = 'End the run: nobody waits for it.';
    end if;
    if p_run_id is not null then
        perform forebay._take_run(v_attempt, p_run_id);
    end if;

    select
        t.task_id, v_attempt.attempt_id, v_attempt.attempt_no, v_attempt.agent, v_attempt.launcher,
        coalesce(v_attempt.job_id, g.job_id), g.entry_point, t.payload, t.priority::integer, t.batch_id, t.customer, v_attempt.estimated_tokens, v_attempt.launch_token,
        v_attempt.lease_expires_at, v_attempt.deadline_at
    into v_begun
    from forebay.tasks as t
    inner join forebay.agents as g on g.agent = v_attempt.agent
    where t.task_id = v_attempt.task_id;
    return v_begun;
end;
$function$;

comment on function forebay.begin_attempt is 'Fetch the work of an attempt, as the run that was launched for it: dequeue''s row, for who knows the launch token.';
