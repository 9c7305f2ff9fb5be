create or replace function forebay.cost_summary(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns forebay.cost_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say what tasks cost together and what a task costs, first tries and retries apart; p_from and p_to are half-open, on created_at.
--
-- Calls (llm) and machines (compute) are told apart. A median is that of one task, of an even count the lower of the two in
-- the middle, and at least 95 % are not above p95: over tasks that are over, and of which the cost of all attempts is known
-- (llm_tasks, compute_tasks; whole_tasks: of both). Sums are of what is known, and null where there are attempts and nothing
-- is known of any. Everything is added up from the tasks of the range, so give a range.
--
-- Returns    one row; is_final is true when every attempt has ended, and has a known cost that no source will change: no bill to
--            come, and no trace to be looked for again
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_summary forebay.cost_summary;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    v_summary := forebay._cost_of_tasks(p_from, p_to, p_statuses, p_agents, p_customers);
    select
        count(*) filter (where tries.is_first),
        case when bool_or(tries.is_first) then sum(tries.llm_usd) filter (where tries.is_first) else 0 end,
        case when bool_or(tries.is_first) then sum(tries.compute_usd) filter (where tries.is_first) else 0 end,
        count(*) filter (where not tries.is_first),
        case when bool_or(not tries.is_first) then sum(tries.llm_usd) filter (where not tries.is_first) else 0 end,
        case when bool_or(not tries.is_first) then sum(tries.compute_usd) filter (where not tries.is_first) else 0 end,
        case when count(*) = 0 or count(tries.compute_usd) > 0
            then coalesce(sum(tries.compute_usd) filter (where not a.is_compute_final), 0) end,
        coalesce(bool_and(
            a.finished_at is not null and (a.is_cost_known or a.status = 'released' and a.used_calls = 0)
            and a.compute_usd is not null and a.is_compute_final
            and not exists (
                select from forebay.attempt_traces as s where s.attempt_id = a.attempt_id and s.next_look_at is not null
            )
        ), true)
    into
        v_summary.first_tries, v_summary.first_llm_usd, v_summary.first_compute_usd, v_summary.retries,
        v_summary.retry_llm_usd, v_summary.retry_compute_usd, v_summary.provisional_usd, v_summary.is_final
    from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
    inner join forebay.task_attempts as a on a.task_id = t.task_id
    cross join lateral (
        select a.attempt_no = 1 as is_first, forebay._known_llm(a) as llm_usd, forebay._known_compute(a) as compute_usd
    ) as tries;
    select coalesce(sum(u.pages), 0) into v_summary.pages
    from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
    where u.pages > 0;
    v_summary.pages := forebay._known_part(
        v_summary.pages, v_summary.measured_attempts, v_summary.running_attempts + v_summary.ended_attempts
    );
    v_summary.as_of := forebay._now();
    return v_summary;
end;
$function$;

comment on function forebay.cost_summary is
'Say what tasks cost together and what a task costs, first tries and retries apart; p_from and p_to are half-open, on created_at.';
