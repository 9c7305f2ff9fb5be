create or replace function forebay.register_agent(
    p_agent                    text,
    p_launcher                 text default 'pull',
    p_job_id                   bigint default null,
    p_entry_point              text default null,
    p_max_concurrent_tasks     integer default null,
    p_max_tpm                  bigint default null,
    p_max_rpm                  integer default null,
    p_tpm_burst                numeric default 0.8,
    p_lease                    interval default '60 seconds',
    p_timeout                  interval default '1 hour',
    p_max_attempts             integer default 3,
    p_max_releases             integer default 20,
    p_backoff_base             interval default '5 seconds',
    p_backoff_max              interval default '1 hour',
    p_on_lost_lease            text default 'retry',
    p_late_results             text default 'accept',
    p_default_estimated_tokens bigint default 2000,
    p_retention                interval default '90 days',
    p_max_waiting              integer default null,
    p_aging                    interval default null,
    p_reserve_after            interval default '60 seconds',
    p_fair_by_customer         boolean default false,
    p_max_usd_per_day          numeric default null,
    p_max_deferrals            integer default 100,
    p_max_deferral_time        interval default '1 day',
    p_quotas                   text[] default '{}',
    p_reason                   text default null,
    p_actor                    text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Define an agent, or define it anew: a parameter that is left out takes its default. A pause stays.
--
-- A limit that is null does not limit; 0 admits nothing. A bucket keeps its level, cut to the new burst; a new one is full.
-- Limits below what is in flight end nothing: the next task starts once there is room again.
--
-- Writes     forebay.agents, forebay.agent_budgets, forebay.agent_settlements, forebay.tasks.is_shared, forebay.audit_log
-- Locks      the agent's lock and budget row: it waits for admissions that are under way; with max_waiting or fair share
--            first the agent's line: it waits for transactions that enqueue; its tasks, by id, when fair share begins
-- Errors     22023  an argument is out of its range
--            25001  p_max_waiting or p_fair_by_customer is given, and the transaction is not READ COMMITTED
--            QF305  there is no such quota
-- Called by  forebay_operator
declare
    v_old    forebay.agents;
    v_new    forebay.agents := (
        p_agent, p_launcher, p_job_id, p_entry_point, p_max_concurrent_tasks, p_max_tpm, p_max_rpm, p_tpm_burst,
        forebay._exact(p_lease), forebay._exact(p_timeout), p_max_attempts, p_max_releases, forebay._exact(p_backoff_base),
        forebay._exact(p_backoff_max), p_on_lost_lease, p_late_results, p_default_estimated_tokens, p_retention,
        null, null, null, null, p_max_waiting, forebay._exact(p_aging), forebay._exact(p_reserve_after), p_fair_by_customer,
        p_max_usd_per_day, p_max_deferrals, forebay._exact(p_max_deferral_time), forebay._names(p_quotas, 'p_quotas')
    )::forebay.agents;
    v_now    timestamptz;
begin
    perform forebay._require_agent_definition(v_new);
    perform forebay._require_quotas(v_new.quotas);
    if p_fair_by_customer or p_max_waiting is not null then
        perform forebay._require_read_committed('defining a line that is shared or bounded');
        perform pg_advisory_xact_lock(forebay._line_key(v_new.agent));
    end if;
    perform forebay._lock_definition(v_new.agent);
    v_now := forebay._now();
    select a.* into v_old from forebay.agents as a where a.agent = v_new.agent;
    v_new.paused_until := v_old.paused_until;
    v_new.pause_reason := v_old.pause_reason;
    v_new.created_at := coalesce(v_old.created_at, v_now);
    v_new.updated_at := v_now;

    insert into forebay.agents values (v_new.*)
    on conflict (agent) do update set
        launcher = excluded.launcher, job_id = excluded.job_id, entry_point = excluded.entry_point,
        max_concurrent_tasks = excluded.max_concurrent_tasks, max_tpm = excluded.max_tpm, max_rpm = excluded.max_rpm,
        tpm_burst = excluded.tpm_burst, lease = excluded.lease, timeout = excluded.timeout,
        max_attempts = excluded.max_attempts, max_releases = excluded.max_releases,
        backoff_base = excluded.backoff_base, backoff_max = excluded.backoff_max,
        on_lost_lease = excluded.on_lost_lease, late_results = excluded.late_results,
        default_estimated_tokens = excluded.default_estimated_tokens, retention = excluded.retention,
        updated_at = excluded.updated_at,
        max_waiting = excluded.max_waiting, aging = excluded.aging, reserve_after = excluded.reserve_after,
        is_fair_by_customer = excluded.is_fair_by_customer, max_usd_per_day = excluded.max_usd_per_day,
        max_deferrals = excluded.max_deferrals, max_deferral_time = excluded.max_deferral_time, quotas = excluded.quotas;

    perform forebay._set_budget(v_old, v_new, v_now);
    perform forebay._set_shared(v_new);
    perform forebay._audit('register_agent', null, p_agent, p_reason, p_actor, to_jsonb(v_new));
end;
$function$;

comment on function forebay.register_agent is 'Define an agent, or define it anew: a parameter that is left out takes its default. A pause stays.';
