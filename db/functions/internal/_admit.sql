create or replace function forebay._admit(
    p_worker text,
    p_agent  forebay.agents,
    p_line   forebay.lined_up[],
    p_now    timestamptz
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Turn the tasks, which the caller has locked, into attempts, and pay for them.
--
-- Returns  one row an attempt, in the order of p_line
-- Writes   forebay.tasks, forebay.task_attempts, and what _pay and _take_turns do
declare
    v_place text := split_part(forebay._places(p_worker) ->> p_agent.launcher, e'\n', 1);
begin
    perform forebay._pay(p_agent, p_line, p_now);
    if p_agent.is_fair_by_customer then
        perform forebay._take_turns(p_agent, p_line);
    end if;
    return query
    with admitted as (
        select
            l.*,
            nextval('forebay.task_attempts_attempt_id_seq') as attempt_id,
            'fb-' || gen_random_uuid() as launch_token
        from unnest(p_line) with ordinality as l (
            task_id, priority, customer, waited, estimated_tokens, uses, place
        )
    ), claimed as (
        update forebay.tasks as t
        set status = 'processing', attempt_id = a.attempt_id, locked_by = p_worker,
            attempt_no = t.attempt_no + 1, attempt_count = t.attempt_count + 1
        from admitted as a
        where t.task_id = a.task_id
        returning t.*, a.estimated_tokens as tokens, a.uses, a.place, a.launch_token
    ), attempts as (
        insert into forebay.task_attempts (
            attempt_id, task_id, agent, launcher, attempt_no, worker, launch_token, lease_expires_at, deadline_at,
            estimated_tokens, charged_tokens, started_at, customer, expected_input_tokens, expected_output_tokens,
            expected_calls, expected_usd, job_id, place
        )
        select
            c.attempt_id, c.task_id, p_agent.agent, p_agent.launcher, c.attempt_no, p_worker,
            c.launch_token, p_now + least(p_agent.lease, p_agent.timeout), p_now + p_agent.timeout, c.tokens,
            case when p_agent.max_tpm is not null then (c.uses).input_tokens + (c.uses).output_tokens end, p_now, c.customer,
            (c.uses).input_tokens, (c.uses).output_tokens, (c.uses).calls, (c.uses).usd,
            p_agent.job_id, v_place
        from claimed as c
    )
    select
        c.task_id, c.attempt_id, c.attempt_no, c.agent, p_agent.launcher, p_agent.job_id, p_agent.entry_point, c.payload,
        c.priority::integer, c.batch_id, c.customer, c.tokens, c.launch_token,
        p_now + least(p_agent.lease, p_agent.timeout), p_now + p_agent.timeout
    from claimed as c
    order by c.place;
end;
$function$;

comment on function forebay._admit is 'Turn the tasks, which the caller has locked, into attempts, and pay for them.';
