create or replace function forebay.list_attempts(
    p_statuses          text[] default '{lost,superseded}',
    p_agents            text[] default null,
    p_from              timestamptz default null,
    p_to                timestamptz default null,
    p_before_attempt_id bigint default null,
    p_limit             integer default 100
)
    returns setof forebay.attempt_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List attempts that did not end well, newest first, a page at a time: the next page is that before the last id of this one.
--
-- p_from and p_to are half-open, on started_at.
--
-- Returns    one row an attempt, by started_at and id downwards
-- Errors     22023  p_limit is not from 1 to 10,000, or p_statuses is null or holds another word than failed, released, lost,
--                   superseded and cancelled
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_before    bigint := coalesce(p_before_attempt_id, 9223372036854775807);
    v_before_at timestamptz := timestamptz 'infinity';
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    perform forebay._require_agents(p_agents);
    if p_statuses is null or not p_statuses <@ '{failed,released,lost,superseded,cancelled}'::text[] then
        raise exception 'p_statuses must hold failed, released, lost, superseded or cancelled' using errcode = '22023';
    end if;
    if p_before_attempt_id is not null then
        select a.started_at into v_before_at from forebay.task_attempts as a
        where a.attempt_id <= p_before_attempt_id
        order by a.attempt_id desc
        limit 1;
    end if;
    return query
    select
        a.attempt_id, a.task_id, a.attempt_no, a.agent, a.launcher, a.status, a.worker, a.run_id, a.trace_id, a.started_at,
        a.finished_at, a.lease_expires_at, a.error ->> 'kind', a.error ->> 'message',
        case when a.is_usage_known or a.used_calls > 0 then a.used_input_tokens end,
        case when a.is_usage_known or a.used_calls > 0 then a.used_output_tokens end,
        case when a.is_usage_known or a.used_calls > 0 then a.used_cached_tokens end,
        a.is_usage_known, forebay._known_llm(a), a.is_cost_known, t.status, t.batch_id, t.customer
    from forebay._page_of_attempts(p_statuses, p_agents, p_from, p_to, v_before_at, v_before, p_limit) as a
    inner join forebay.tasks as t on t.task_id = a.task_id
    order by a.started_at desc, a.attempt_id desc;
end;
$function$;

comment on function forebay.list_attempts is
'List attempts that did not end well, newest first, a page at a time: the next page is that before the last id of this one.';
