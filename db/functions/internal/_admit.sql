create or replace function forebay._admit(
    p_worker   text,
    p_agent    forebay.agents,
    p_limit    integer,
    p_floor    integer,
    p_tokens   numeric,
    p_requests numeric,
    p_folded   bigint[],
    p_now      timestamptz
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Turn the longest head of the line that fits into attempts, and pay for them; a refusal writes nothing.
--
-- Returns  one row an attempt, in the order of the line
-- Writes   forebay.tasks, forebay.task_attempts, forebay.agent_budgets, forebay.agent_settlements
begin
    return query
    with head as (
        select
            t.task_id, t.priority, t.created_at,
            forebay._estimate(p_agent, t) as tokens
        from forebay.tasks as t
        where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready
            and t.priority >= coalesce(p_floor, -32768)
        order by t.priority desc, t.created_at, t.task_id
        limit p_limit
        for no key update skip locked
    ), lined_up as (
        select
            h.*,
            row_number() over line as place,
            sum(h.tokens) over line as upto
        from head as h
        window line as (order by h.priority desc, h.created_at, h.task_id rows unbounded preceding)
    ), admitted as (
        select
            l.*,
            nextval('forebay.task_attempts_attempt_id_seq') as attempt_id,
            'fb-' || gen_random_uuid() as launch_token
        from lined_up as l
        where forebay._fits(l.place, l.tokens, l.upto, p_tokens, forebay._token_burst(p_agent))
    ), claimed as (
        update forebay.tasks as t
        set status = 'processing', attempt_id = a.attempt_id, locked_by = p_worker,
            attempt_no = t.attempt_no + 1, attempt_count = t.attempt_count + 1
        from admitted as a
        where t.task_id = a.task_id
        returning t.*, a.tokens, a.place, a.launch_token
    ), attempts as (
        insert into forebay.task_attempts (
            attempt_id, task_id, agent, launcher, attempt_no, worker, launch_token, lease_expires_at, deadline_at,
            estimated_tokens, charged_tokens, started_at
        )
        select
            c.attempt_id, c.task_id, p_agent.agent, p_agent.launcher, c.attempt_no, p_worker,
            c.launch_token, p_now + least(p_agent.lease, p_agent.timeout), p_now + p_agent.timeout, c.tokens,
            case when p_agent.max_tpm is not null then c.tokens end, p_now
        from claimed as c
    ), paid as (
        update forebay.agent_budgets as b
        set tokens = p_tokens - bill.tokens, requests = p_requests - bill.claims, refilled_at = p_now
        from (select sum(c.tokens) as tokens, count(*) as claims from claimed as c) as bill
        where b.agent = p_agent.agent and bill.claims > 0 and (p_tokens is not null or p_requests is not null)
    ), folded as (
        delete from forebay.agent_settlements as s
        where s.settlement_id = any(p_folded) and exists (select from claimed)
    )
    select
        c.task_id, c.attempt_id, c.attempt_no, c.agent, p_agent.launcher, p_agent.job_id, p_agent.entry_point, c.payload,
        c.priority::integer, c.batch_id, c.customer, c.tokens, c.launch_token,
        p_now + least(p_agent.lease, p_agent.timeout), p_now + p_agent.timeout
    from claimed as c
    order by c.place;
end;
$function$;

comment on function forebay._admit is 'Turn the longest head of the line that fits into attempts, and pay for them; a refusal writes nothing.';
