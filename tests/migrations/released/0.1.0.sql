-- Bring schema forebay to release 0.1.0: psql -v ON_ERROR_STOP=1 -f FILE
--
-- One transaction, of these steps:
--   new     migrations/0001_create_roles.sql
--   new     migrations/0002_create_agents_and_tasks.sql
--   new     migrations/0003_create_row_types.sql
--   new     functions/internal/_admit.sql
--   new     functions/internal/_agent_key.sql
--   new     functions/internal/_agent_state.sql
--   new     functions/internal/_ask_wakeup.sql
--   new     functions/internal/_audit.sql
--   new     functions/internal/_backoff.sql
--   new     functions/internal/_cancel.sql
--   new     functions/internal/_candidates.sql
--   new     functions/internal/_claim.sql
--   new     functions/internal/_cluster.sql
--   new     functions/internal/_count_ahead.sql
--   new     functions/internal/_effects.sql
--   new     functions/internal/_end_expired.sql
--   new     functions/internal/_end_observed.sql
--   new     functions/internal/_error.sql
--   new     functions/internal/_estimate.sql
--   new     functions/internal/_exact.sql
--   new     functions/internal/_expired_priority.sql
--   new     functions/internal/_expiry_error.sql
--   new     functions/internal/_explain_running.sql
--   new     functions/internal/_explain_waiting.sql
--   new     functions/internal/_fits.sql
--   new     functions/internal/_get_agent.sql
--   new     functions/internal/_get_attempt.sql
--   new     functions/internal/_get_batch.sql
--   new     functions/internal/_get_task.sql
--   new     functions/internal/_give_back.sql
--   new     functions/internal/_head.sql
--   new     functions/internal/_head_fits.sql
--   new     functions/internal/_in_use.sql
--   new     functions/internal/_is_copy.sql
--   new     functions/internal/_is_expired.sql
--   new     functions/internal/_is_external.sql
--   new     functions/internal/_is_limited.sql
--   new     functions/internal/_json_boolean.sql
--   new     functions/internal/_json_integer.sql
--   new     functions/internal/_json_name.sql
--   new     functions/internal/_json_number.sql
--   new     functions/internal/_json_text.sql
--   new     functions/internal/_json_time.sql
--   new     functions/internal/_levels.sql
--   new     functions/internal/_limits.sql
--   new     functions/internal/_lock_agent.sql
--   new     functions/internal/_lock_attempt.sql
--   new     functions/internal/_lock_definition.sql
--   new     functions/internal/_lock_tasks.sql
--   new     functions/internal/_match_keys.sql
--   new     functions/internal/_matching_tasks.sql
--   new     functions/internal/_may_dispatch.sql
--   new     functions/internal/_may_retry.sql
--   new     functions/internal/_next_round.sql
--   new     functions/internal/_notify.sql
--   new     functions/internal/_now.sql
--   new     functions/internal/_open_line.sql
--   new     functions/internal/_own_batch.sql
--   new     functions/internal/_parse_task.sql
--   new     functions/internal/_pause.sql
--   new     functions/internal/_record_usage.sql
--   new     functions/internal/_refill.sql
--   new     functions/internal/_refilled_at.sql
--   new     functions/internal/_report.sql
--   new     functions/internal/_report_effect.sql
--   new     functions/internal/_report_event.sql
--   new     functions/internal/_request_burst.sql
--   new     functions/internal/_require_agent_definition.sql
--   new     functions/internal/_require_agents.sql
--   new     functions/internal/_require_between.sql
--   new     functions/internal/_require_delay.sql
--   new     functions/internal/_require_ids.sql
--   new     functions/internal/_require_launchers.sql
--   new     functions/internal/_require_open.sql
--   new     functions/internal/_require_size.sql
--   new     functions/internal/_require_statuses.sql
--   new     functions/internal/_require_worker.sql
--   new     functions/internal/_result_fault.sql
--   new     functions/internal/_retry.sql
--   new     functions/internal/_room.sql
--   new     functions/internal/_run_outcome.sql
--   new     functions/internal/_run_words.sql
--   new     functions/internal/_seen.sql
--   new     functions/internal/_set_budget.sql
--   new     functions/internal/_settle.sql
--   new     functions/internal/_token_burst.sql
--   new     functions/internal/_usage_tokens.sql
--   new     functions/internal/_waiting_words.sql
--   new     functions/internal/_wake_due.sql
--   new     functions/submitter/batch_tasks.sql
--   new     functions/submitter/cancel_batch.sql
--   new     functions/submitter/enqueue.sql
--   new     functions/submitter/enqueue_many.sql
--   new     functions/submitter/open_batch.sql
--   new     functions/submitter/retry_batch.sql
--   new     functions/worker/adopt.sql
--   new     functions/worker/dequeue.sql
--   new     functions/worker/observe_run.sql
--   new     functions/worker/record_run.sql
--   new     functions/worker/release.sql
--   new     functions/worker/renew_leases.sql
--   new     functions/worker/runs_to_cancel.sql
--   new     functions/worker/sweep.sql
--   new     functions/agent/callback.sql
--   new     functions/agent/complete.sql
--   new     functions/agent/complete_many.sql
--   new     functions/agent/fail.sql
--   new     functions/agent/report_progress.sql
--   new     functions/agent/report_usage.sql
--   new     functions/operator/cancel.sql
--   new     functions/operator/open_installation.sql
--   new     functions/operator/pause_agent.sql
--   new     functions/operator/register_agent.sql
--   new     functions/operator/reprioritize.sql
--   new     functions/operator/reprocess.sql
--   new     functions/operator/resume_agent.sql
--   new     functions/operator/retry.sql
--   new     functions/viewer/agent_status.sql
--   new     functions/viewer/batch_progress.sql
--   new     functions/viewer/explain_task.sql
--   new     functions/viewer/health.sql
--   new     functions/viewer/list_tasks.sql
--   new     functions/viewer/schema_version.sql
--   new     functions/viewer/server_time.sql
--   new     functions/viewer/task_counts.sql
--   new     functions/viewer/task_detail.sql
--   new     functions/reader/task_result.sql
--   new     triggers/agents.sql
--   new     triggers/tasks.sql
--   new     triggers/wakeups.sql
--   new     grants.sql
--   new     0.1.0

\set ON_ERROR_STOP on
\set QUIET on
\encoding UTF8
begin;
set transaction isolation level read committed;
set local lock_timeout = '5s';
set local check_function_bodies = off;
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('forebay.schema')) \g /dev/null

\echo new migrations/0001_create_roles.sql
-- The roles, the schema that forebay_owner owns, and the ledger of what is installed in it.
--
-- requires  PostgreSQL 15, and a superuser or a role with CREATEROLE that may create schemas in this database
-- locks     nothing
-- rewrites  nothing
-- breaks    nothing
-- revert    revert/0001_create_roles.sql
--
-- Roles belong to the cluster: those that another database's installation created stay as they are.
-- Run it in a transaction: from its second half on the transaction acts as forebay_owner.

do $roles$
declare
    v_role    text;
    v_comment text;
begin
    if pg_catalog.current_setting('server_version_num')::integer < 150000 then
        raise exception 'Forebay needs PostgreSQL 15 or newer, and this server is %',
            pg_catalog.current_setting('server_version')
            using errcode = 'feature_not_supported';
    end if;
    for v_role, v_comment in
        values
        ('forebay_owner', 'Owns schema forebay and all that is in it; nobody logs in as it.'),
        ('forebay_submitter', 'May call the functions that submit tasks and batches.'),
        ('forebay_worker', 'May call the functions that claim tasks and keep their leases.'),
        ('forebay_agent', 'May call the functions that report usage, progress and results.'),
        ('forebay_operator', 'May call the functions that define agents and change tasks.'),
        ('forebay_viewer', 'May call the functions that show tasks without payloads and results.'),
        ('forebay_reader', 'May call the functions that show payloads and results.'),
        ('forebay_upkeep', 'May call the functions that keep the database small and correct.')
    loop
        if exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
            continue;
        end if;
        begin
            execute pg_catalog.format('create role %I nologin', v_role);
            execute pg_catalog.format('comment on role %I is %L', v_role, v_comment);
        exception
            when duplicate_object or unique_violation then
                null;  -- an installation in another database was quicker
        end;
    end loop;
exception
    when insufficient_privilege then
        raise exception 'role "%" may not create roles', current_user
            using errcode = 'insufficient_privilege',
                hint = 'Install as a superuser, or as a role with CREATEROLE.';
end;
$roles$;

do $membership$
begin
    if not pg_catalog.pg_has_role(
        current_user,
        'forebay_owner',
        case when pg_catalog.current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end
    ) then
        grant forebay_owner to current_user;
    end if;
exception
    when insufficient_privilege then
        raise exception 'role "%" may not act as forebay_owner, which another role created', current_user
            using errcode = 'insufficient_privilege',
                hint = pg_catalog.format('As a superuser run: grant forebay_owner to %I', current_user);
end;
$membership$;

create schema forebay authorization forebay_owner;

set local role forebay_owner;

alter default privileges for role forebay_owner revoke execute on functions from public;

comment on schema forebay is
'The control plane of long-running AI-agent work. Call its functions; nobody but forebay_owner reads its tables.';

create table forebay.schema_history (
    name       text        not null,
    kind       text        not null,
    sha256     text,
    release    text        not null,
    applied_at timestamptz not null,
    applied_by text        not null,
    runs       integer     not null default 1,
    constraint schema_history_pkey primary key (name),
    constraint schema_history_kind_known check (kind in ('versioned', 'repeatable', 'release')),
    constraint schema_history_sha256_of_files check ((kind = 'release') = (sha256 is null)),
    constraint schema_history_release_is_numbers check (release ~ '^[0-9]+(\.[0-9]+)*$'),
    constraint schema_history_release_names_itself check (kind <> 'release' or name = release)
);
comment on table forebay.schema_history is
'One row a file of db/ that was applied, and one row a release that was installed. Written by the installer alone.';
comment on column forebay.schema_history.name is 'The file below db/, or the release.';
comment on column forebay.schema_history.kind is
'versioned: applied once and frozen; repeatable: applied again when its text changed; release: not a file.';
comment on column forebay.schema_history.release is 'Which release of Forebay applied it last.';
comment on column forebay.schema_history.runs is 'How often it was applied.';

do $verify$
begin
    if current_user <> 'forebay_owner' then
        raise exception 'expected to act as forebay_owner, not as %', current_user;
    end if;
    if not exists (
        select
        from pg_catalog.pg_default_acl as d
        where d.defaclrole = 'forebay_owner'::regrole and d.defaclobjtype = 'f' and d.defaclnamespace = 0
    ) then
        raise exception 'functions of forebay_owner would be executable by PUBLIC';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0001_create_roles.sql', 'versioned', 'd5c88b075065fc4799b53272e21ded871ffba4458a6a2641506dbf403e3a6dbe', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0002_create_agents_and_tasks.sql
-- The tables of the queue: agents and their budgets, batches, tasks, attempts, usage, the audit log.
--
-- requires  0001_create_roles
-- locks     nothing that exists before it
-- rewrites  nothing
-- breaks    nothing
-- revert    revert/0002_create_agents_and_tasks.sql

create table forebay.installation (
    is_singleton      boolean     not null default true,
    installation_id   uuid        not null default gen_random_uuid(),
    system_identifier bigint      not null,
    is_branch         boolean     not null default false,
    opened_in         bigint,
    max_payload_bytes integer     not null default 1048576,
    max_result_bytes  integer     not null default 1048576,
    max_batch_size    integer     not null default 10000,
    adoption_grace    interval    not null default '2 minutes',
    report_grace      interval    not null default '30 seconds',
    constraint installation_pkey primary key (is_singleton),
    constraint installation_is_one_row check (is_singleton),
    constraint installation_limits_positive check (
        max_payload_bytes > 0 and max_result_bytes > 0 and max_batch_size > 0
        and adoption_grace >= interval '0' and report_grace >= interval '0'
    )
);
comment on table forebay.installation is
'One row: the identity of this database, whether it is a copy, and the settings that hold for all agents.';
comment on column forebay.installation.system_identifier is
'Of the cluster that this row was written in; another value there means a restored copy.';
comment on column forebay.installation.opened_in is
'The cluster in which an operator let this branch or copy dispatch; a copy of it elsewhere has to be opened anew.';

create table forebay.agents (
    agent                    text        not null,
    launcher                 text        not null,
    job_id                   bigint,
    entry_point              text,
    max_concurrent_tasks     integer,
    max_tpm                  bigint,
    max_rpm                  integer,
    tpm_burst                numeric     not null,
    lease                    interval    not null,
    timeout                  interval    not null,
    max_attempts             integer     not null,
    max_releases             integer     not null,
    backoff_base             interval    not null,
    backoff_max              interval    not null,
    on_lost_lease            text        not null,
    late_results             text        not null,
    default_estimated_tokens bigint      not null,
    retention                interval    not null,
    paused_until             timestamptz,
    pause_reason             text,
    created_at               timestamptz not null,
    updated_at               timestamptz not null,
    constraint agents_pkey primary key (agent),
    constraint agents_name_length check (char_length(agent) between 1 and 200),
    constraint agents_launcher_known check (launcher in ('pull', 'local', 'lakeflow')),
    constraint agents_limits_not_negative check (max_concurrent_tasks >= 0 and max_tpm >= 0 and max_rpm >= 0),
    constraint agents_burst_positive check (tpm_burst > 0 and tpm_burst <= 100),
    constraint agents_durations_positive check (
        lease > interval '0' and timeout > interval '0' and backoff_base > interval '0'
        and backoff_max >= backoff_base and retention > interval '0'
    ),
    constraint agents_attempts_positive check (max_attempts >= 1 and max_releases >= 0),
    constraint agents_estimate_not_negative check (default_estimated_tokens >= 0),
    constraint agents_on_lost_lease_known check (on_lost_lease in ('retry', 'fail')),
    constraint agents_late_results_known check (late_results in ('accept', 'reject'))
);
comment on table forebay.agents is
'What an agent is and what it may use. Limits live here and nowhere else. Read by dequeue, never locked by it.';

create table forebay.agent_budgets (
    agent         text        not null,
    tokens        numeric,
    requests      numeric,
    refilled_at   timestamptz not null,
    limited_since timestamptz,
    constraint agent_budgets_pkey primary key (agent),
    constraint agent_budgets_agent_fkey foreign key (agent) references forebay.agents (agent) on delete cascade
) with (fillfactor = 50);
comment on table forebay.agent_budgets is
'One narrow row an agent: the admission lock, and the levels of its two buckets. Null means no such limit.';
comment on column forebay.agent_budgets.tokens is 'Tokens left as of refilled_at; negative after a task larger than the burst.';
comment on column forebay.agent_budgets.limited_since is 'Attempts claimed before it were never charged to this bucket.';
comment on column forebay.agent_budgets.requests is 'Claims left as of refilled_at.';

create table forebay.agent_settlements (
    settlement_id bigint generated always as identity,
    agent         text        not null,
    tokens        bigint      not null,
    settled_at    timestamptz not null,
    constraint agent_settlements_pkey primary key (settlement_id)
);
create index agent_settlements_agent on forebay.agent_settlements (agent);
comment on table forebay.agent_settlements is
'Charged minus actual tokens of ended attempts, waiting for the next dequeue to fold them into the bucket.';

create table forebay.batches (
    batch_id   bigint generated always as identity,
    name       text        not null,
    customer   text,
    owner      text,
    metadata   jsonb       not null,
    created_at timestamptz not null,
    constraint batches_pkey primary key (batch_id),
    constraint batches_name_length check (char_length(name) between 1 and 500)
);
comment on table forebay.batches is 'The parent of many tasks: one person''s upload, one extraction.';

create table forebay.tasks (
    task_id          bigint generated by default as identity,
    agent            text        not null,
    status           text        not null default 'enqueued',
    priority         smallint    not null default 0,
    batch_id         bigint,
    customer         text,
    idempotency_key  text,
    payload          jsonb       not null,
    estimated_tokens bigint,
    max_attempts     integer,
    is_ready         boolean     not null default true,
    available_at     timestamptz not null,
    attempt_id       bigint,
    locked_by        text,
    attempt_no       integer     not null default 0,
    attempt_count    integer     not null default 0,
    release_count    integer     not null default 0,
    result           jsonb,
    confidence       numeric,
    error            jsonb,
    reprocess_of     bigint,
    created_at       timestamptz not null,
    finished_at      timestamptz,
    constraint tasks_pkey primary key (task_id),
    constraint tasks_status_known check (status in ('enqueued', 'processing', 'completed', 'failed', 'cancelled')),
    constraint tasks_claim_when_processing check (
        (status = 'processing') = (attempt_id is not null) and (status = 'processing') = (locked_by is not null)
    ),
    constraint tasks_finished_when_terminal check (
        (status in ('completed', 'failed', 'cancelled')) = (finished_at is not null)
    ),
    constraint tasks_finished_after_created check (finished_at >= created_at),
    constraint tasks_counts_not_negative check (attempt_count >= 0 and release_count >= 0 and attempt_no >= 0),
    constraint tasks_confidence_range check (confidence between 0 and 1)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index tasks_ready on forebay.tasks (agent, priority desc, created_at, task_id)
where status = 'enqueued' and is_ready;
create index tasks_delayed on forebay.tasks (agent, available_at) where status = 'enqueued' and not is_ready;
create unique index tasks_idempotency on forebay.tasks (agent, idempotency_key) where idempotency_key is not null;
create index tasks_batch on forebay.tasks (batch_id, task_id) where batch_id is not null;
create index tasks_reprocess on forebay.tasks (reprocess_of) where reprocess_of is not null;
create index tasks_created on forebay.tasks (created_at, task_id);
comment on table forebay.tasks is
'One row a task. No foreign key to agents and batches: both are checked in enqueue_many.';
comment on column forebay.tasks.is_ready is 'False while available_at lies ahead; dequeue and sweep turn it when it is due.';
comment on column forebay.tasks.attempt_id is 'The current attempt, while processing: the fencing token.';
comment on column forebay.tasks.attempt_no is 'How many attempts were claimed in all.';
comment on column forebay.tasks.attempt_count is 'How many of them were spent; an operator''s retry sets it to 0.';
comment on column forebay.tasks.error is 'The last failure.';

create table forebay.task_attempts (
    attempt_id       bigint generated by default as identity,
    task_id          bigint      not null,
    agent            text        not null,
    launcher         text        not null,
    attempt_no       integer     not null,
    status           text        not null default 'claimed',
    worker           text        not null,
    launch_token     text        not null,
    run_id           text,
    run_state        jsonb,
    run_ended_at     timestamptz,
    trace_id         text,
    lease_expires_at timestamptz not null,
    deadline_at      timestamptz not null,
    estimated_tokens bigint      not null,
    charged_tokens   bigint,
    is_stop_pending  boolean     not null default false,
    stop_asked_at    timestamptz,
    progress_done    integer,
    progress_total   integer,
    result           jsonb,
    confidence       numeric,
    error            jsonb,
    started_at       timestamptz not null,
    reported_at      timestamptz,
    finished_at      timestamptz,
    constraint task_attempts_pkey primary key (attempt_id),
    constraint task_attempts_task_fkey foreign key (task_id) references forebay.tasks (task_id) on delete cascade,
    constraint task_attempts_number unique (task_id, attempt_no),
    constraint task_attempts_launch_token unique (launch_token),
    constraint task_attempts_status_known check (
        status in ('claimed', 'running', 'succeeded', 'failed', 'released', 'lost', 'superseded', 'cancelled')
    ),
    constraint task_attempts_finished_when_ended check (
        (status not in ('claimed', 'running')) = (finished_at is not null)
    ),
    constraint task_attempts_finished_after_started check (finished_at >= started_at)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index task_attempts_open on forebay.task_attempts (agent) where finished_at is null;
create index task_attempts_to_stop on forebay.task_attempts (launcher, attempt_id) where is_stop_pending;
comment on table forebay.task_attempts is
'One row a claim. The lease lives here, in a column that no index holds, so that renewing it stays a HOT update.';
comment on column forebay.task_attempts.estimated_tokens is 'What the claim was estimated at: the task''s estimate or the agent''s default.';
comment on column forebay.task_attempts.charged_tokens is
'What the agent''s bucket is charged with for this attempt now; null when the agent had no max_tpm at the claim.';
comment on column forebay.task_attempts.is_stop_pending is
'The attempt was ended from outside, and nothing has shown yet that its worker or run has stopped.';
comment on column forebay.task_attempts.reported_at is 'When the attempt itself first said how it ended.';
comment on column forebay.task_attempts.result is 'A result that did not become the task''s, kept for audit.';

create table forebay.attempt_usage (
    attempt_id    bigint      not null,
    source        text        not null,
    call_id       text        not null,
    model         text,
    input_tokens  bigint,
    output_tokens bigint,
    cached_tokens bigint,
    cost_usd      numeric,
    started_at    timestamptz,
    latency_ms    bigint,
    trace_id      text,
    recorded_at   timestamptz not null,
    constraint attempt_usage_pkey primary key (attempt_id, source, call_id),
    constraint attempt_usage_attempt_fkey foreign key (attempt_id)
    references forebay.task_attempts (attempt_id) on delete cascade,
    constraint attempt_usage_source_known check (source in ('agent', 'trace')),
    constraint attempt_usage_not_negative check (
        input_tokens >= 0 and output_tokens >= 0 and cached_tokens >= 0 and cost_usd >= 0 and latency_ms >= 0
    )
);
comment on table forebay.attempt_usage is 'One row a model call and source. Null is unknown, never zero.';
comment on column forebay.attempt_usage.cached_tokens is 'The part of input_tokens that came from the provider''s cache.';

create table forebay.audit_log (
    audit_id     bigint generated always as identity,
    acted_at     timestamptz not null,
    action       text        not null,
    task_id      bigint,
    agent        text,
    session_role text        not null,
    actor        text,
    reason       text,
    details      jsonb,
    constraint audit_log_pkey primary key (audit_id)
);
create index audit_log_task on forebay.audit_log (task_id) where task_id is not null;
comment on table forebay.audit_log is 'Every act of an operator or a batch''s owner: who, when, why. One row a task or agent that changed.';

create table forebay.dispatchers (
    worker        text        not null,
    first_seen_at timestamptz not null,
    last_claim_at timestamptz,
    last_sweep_at timestamptz,
    constraint dispatchers_pkey primary key (worker)
) with (fillfactor = 50);
comment on table forebay.dispatchers is
'Who claims and sweeps, for health(). Written at most once in five seconds a worker; nothing is decided by it.';

create table forebay.run_outcomes (
    launcher         text    not null,
    life_cycle_state text    not null,
    result_state     text    not null default '*',
    termination_code text    not null default '*',
    outcome          text    not null,
    is_ended         boolean not null,
    may_report_yet   boolean not null default false,
    note             text    not null,
    constraint run_outcomes_pkey primary key (launcher, life_cycle_state, result_state, termination_code),
    constraint run_outcomes_outcome_known check (outcome in ('renew', 'requeue', 'retry', 'fail', 'pause_agent'))
);
comment on column forebay.run_outcomes.may_report_yet is
'The run did start, so a report can still be on its way: the outcome follows after the report grace.';
comment on table forebay.run_outcomes is
'What follows from a state that a launcher saw a run in. * matches anything; the row with the fewest * wins.';

create unlogged table forebay.wakeups (
    wakeup_id bigint generated always as identity,
    is_work   boolean not null,
    constraint wakeups_pkey primary key (wakeup_id)
);
comment on table forebay.wakeups is
'Empty but inside open transactions: one row asks for notifications when its transaction commits. See triggers/wakeups.sql.';

create sequence forebay.work_notified_until as bigint minvalue 0 start 0;
create sequence forebay.changes_notified_until as bigint minvalue 0 start 0;
comment on sequence forebay.work_notified_until is
'Not a counter: how far ahead, in ms of the epoch, forebay_work has been notified. See functions/internal/_notify.sql.';
comment on sequence forebay.changes_notified_until is
'Not a counter: how far ahead, in ms of the epoch, forebay_changes has been notified. See functions/internal/_notify.sql.';

insert into forebay.installation (system_identifier)
select control.system_identifier from pg_catalog.pg_control_system() as control;

insert into forebay.run_outcomes
(launcher, life_cycle_state, result_state, termination_code, outcome, is_ended, may_report_yet, note)
values
('lakeflow', 'QUEUED', '*', '*', 'renew', false, false, 'waits for room in the workspace'),
('lakeflow', 'PENDING', '*', '*', 'renew', false, false, 'waits for a cluster'),
('lakeflow', 'BLOCKED', '*', '*', 'renew', false, false, 'waits for something upstream'),
('lakeflow', 'WAITING_FOR_RETRY', '*', '*', 'renew', false, false, 'the job retries by itself'),
('lakeflow', 'RUNNING', '*', '*', 'renew', false, false, 'alive'),
('lakeflow', 'TERMINATING', '*', '*', 'renew', false, false, 'about to end'),
('lakeflow', 'TERMINATED', '*', '*', 'retry', true, true, 'ended in a way that is not listed'),
('lakeflow', 'TERMINATED', 'SUCCESS', '*', 'retry', true, true, 'ended well'),
('lakeflow', 'TERMINATED', 'SUCCESS_WITH_FAILURES', '*', 'retry', true, true, 'ended well in part'),
('lakeflow', 'TERMINATED', 'FAILED', '*', 'retry', true, true, 'the code failed'),
('lakeflow', 'TERMINATED', 'TIMEDOUT', '*', 'retry', true, true, 'the job''s own timeout ended it'),
('lakeflow', 'TERMINATED', 'CANCELED', '*', 'retry', true, true, 'somebody cancelled it in the workspace'),
(
    'lakeflow', 'TERMINATED', 'MAXIMUM_CONCURRENT_RUNS_REACHED', '*', 'requeue', true, false,
    'never started: the job runs as many as it may'
),
('lakeflow', 'SKIPPED', '*', '*', 'requeue', true, false, 'never started'),
('lakeflow', 'INTERNAL_ERROR', '*', '*', 'retry', true, false, 'the platform failed'),
('lakeflow', 'NOT_FOUND', '*', '*', 'retry', true, false, 'the workspace does not know the run'),
('lakeflow', 'UNAUTHORIZED', '*', '*', 'pause_agent', true, false, 'the workspace refuses us: an operator must act');

do $verify$
begin
    perform 1 from forebay.installation as i where not i.is_branch;
    if not found then
        raise exception 'forebay.installation has no row';
    end if;
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'r' and c.relname <> 'schema_history') <> 12 then
        raise exception 'expected 12 tables in schema forebay';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0002_create_agents_and_tasks.sql', 'versioned', '2c1fbf18c74e0332d64029c80d29acba5533e27af6ec31b31ea3d5a7123ff4a4', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0003_create_row_types.sql
-- The shapes of the rows that the public functions return, one composite type each.
--
-- requires  0002_create_agents_and_tasks
-- locks     nothing
-- rewrites  nothing
-- breaks    nothing
-- revert    revert/0003_create_row_types.sql

create type forebay.enqueued_task as (ordinal integer, task_id bigint, created boolean);
comment on type forebay.enqueued_task is 'enqueue_many: one row a task, ordinal from 1; created is false when the key was known.';

create type forebay.claimed_attempt as (
    task_id bigint, attempt_id bigint, attempt_no integer, agent text, launcher text, job_id bigint, entry_point text,
    payload jsonb, priority integer, batch_id bigint, customer text, estimated_tokens bigint, launch_token text,
    lease_expires_at timestamptz, deadline_at timestamptz
);
comment on type forebay.claimed_attempt is 'dequeue: one row an attempt.';

create type forebay.adopted_attempt as (
    task_id bigint, attempt_id bigint, attempt_no integer, agent text, launcher text, job_id bigint, entry_point text,
    payload jsonb, priority integer, batch_id bigint, customer text, estimated_tokens bigint, launch_token text,
    lease_expires_at timestamptz, deadline_at timestamptz, run_id text
);
comment on type forebay.adopted_attempt is 'adopt: dequeue''s row, and the run if one was recorded.';

create type forebay.renewed_lease as (attempt_id bigint, state text, lease_expires_at timestamptz);
comment on type forebay.renewed_lease is 'renew_leases: state is renewed, cancel_requested, lost or finished.';

create type forebay.run_to_cancel as (
    attempt_id bigint, task_id bigint, agent text, launcher text, job_id bigint, run_id text, launch_token text
);
comment on type forebay.run_to_cancel is 'runs_to_cancel: a run whose attempt was ended from outside.';

create type forebay.sweep_result as (requeued integer, failed integer, woken integer);
comment on type forebay.sweep_result is 'sweep: how many tasks went back in line, failed, and became due.';

create type forebay.reported_attempt as (attempt_id bigint, status text, effect text);
comment on type forebay.reported_attempt is
'complete_many: the task''s status after it; effect is completed, retrying, failed, kept, recorded or none.';

create type forebay.task_effect as (task_id bigint, status text, effect text);
comment on type forebay.task_effect is
'An act on tasks: the status after it; effect is cancelled, retried, reprioritized, none or unknown.';

create type forebay.reprocessed_task as (task_id bigint, status text, effect text, new_task_id bigint);
comment on type forebay.reprocessed_task is 'reprocess: effect is reprocessed, none or unknown.';

create type forebay.batch_task as (
    task_id bigint, agent text, status text, priority integer, payload jsonb, attempt_count integer,
    progress_done integer, progress_total integer, confidence numeric, error jsonb,
    created_at timestamptz, finished_at timestamptz
);
comment on type forebay.batch_task is 'batch_tasks: one row a task of the caller''s batch, without its result.';

create type forebay.batch_progress as (
    batch_id bigint, name text, customer text, owner text, created_at timestamptz, tasks bigint, enqueued bigint,
    processing bigint, completed bigint, failed bigint, cancelled bigint, finished_at timestamptz
);
comment on type forebay.batch_progress is 'batch_progress: counts by status; finished_at once nothing is left to do.';

create type forebay.task_count as (status text, tasks bigint);
comment on type forebay.task_count is 'task_counts: one row for each of the five statuses.';

create type forebay.task_summary as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, locked_by text,
    available_at timestamptz, attempt_count integer, attempt_id bigint, progress_done integer, progress_total integer,
    confidence numeric, error_kind text, created_at timestamptz, finished_at timestamptz, reprocess_of bigint
);
comment on type forebay.task_summary is 'list_tasks: one row a task, newest first.';

create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, confidence numeric,
    error jsonb, reprocess_of bigint, reprocessed_by bigint[], created_at timestamptz, finished_at timestamptz,
    attempts jsonb, usage jsonb, audit jsonb
);
comment on type forebay.task_detail is
'task_detail: the task without payload and result; attempts, usage and audit are arrays of objects, oldest first.';

create type forebay.task_result as (
    task_id bigint, status text, payload jsonb, result jsonb, confidence numeric, error jsonb, kept_results jsonb
);
comment on type forebay.task_result is
'task_result: what went in and came out; kept_results are those of other attempts, as objects with attempt_id and result.';

create type forebay.task_explanation as (
    task_id bigint, status text, reason text, explanation text, waiting_until timestamptz, ahead bigint
);
comment on type forebay.task_explanation is
'explain_task: reason is one word, explanation a sentence; waiting_until null means not known; ahead counts tasks before it.';

create type forebay.agent_state as (
    agent text, launcher text, state text, waiting bigint, delayed bigint, in_use bigint, max_concurrent_tasks integer,
    max_tpm bigint, token_level numeric, token_burst numeric, in_flight_tokens bigint, max_rpm integer,
    request_level numeric, request_burst numeric, paused_until timestamptz, pause_reason text,
    oldest_waiting_at timestamptz, job_id bigint, entry_point text, lease interval, timeout interval,
    max_attempts integer
);
comment on type forebay.agent_state is
'agent_status: state is open, paused, full, out_of_tokens, out_of_requests or closed; levels are as of now.';

create type forebay.health_report as (
    schema_version text, installation_id uuid, is_branch boolean, may_dispatch boolean, dispatchers jsonb,
    listeners integer, last_claim_at timestamptz, last_sweep_at timestamptz, oldest_waiting_at timestamptz,
    expired_leases bigint, oldest_transaction_at timestamptz, notify_queue_usage double precision
);
comment on type forebay.health_report is
'health: dispatchers are objects with worker, first_seen_at, last_claim_at, last_sweep_at; notify_queue_usage is 0 to 1.';

create type forebay.serving_round as (agents text[], floor integer, is_only boolean);
comment on type forebay.serving_round is 'Inside dequeue: the agents whose turn it is, and the priority down to which.';

create type forebay.held_attempt as (task forebay.tasks, attempt forebay.task_attempts);
comment on type forebay.held_attempt is 'Inside reports: an attempt and its task, both locked.';

do $verify$
begin
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'c') <> 20 then
        raise exception 'expected 20 row types in schema forebay';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0003_create_row_types.sql', 'versioned', '0e1b9666d7fe946b311632fa3a0ee86d2fb06992126b879a0adb73a4a1e474c2', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_admit.sql
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
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_admit.sql', 'repeatable', '849ffe50f9bd3dfe00fad1b4ee6483bec97061fe51dc3dd6fe2f42f494438430', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_agent_key.sql
create or replace function forebay._agent_key(p_agent text)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- The key of the agent's advisory lock.
select hashtextextended('forebay.agent ' || p_agent, 0);
$function$;

comment on function forebay._agent_key is 'The key of the agent''s advisory lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_agent_key.sql', 'repeatable', 'a3485185c8d3b59a229f11d9a952ce90dcd0d7c51ebc86e0d8145213555b9891', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_agent_state.sql
create or replace function forebay._agent_state(p_agent forebay.agents, p_now timestamptz)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- In one word, whether the agent admits: closed, paused, full, out_of_requests, out_of_tokens or open.
begin
    return case
        when p_agent.max_tpm = 0 or p_agent.max_rpm = 0 or p_agent.max_concurrent_tasks = 0 then 'closed'
        when p_agent.paused_until > p_now then 'paused'
        when forebay._in_use(p_agent.agent, p_agent.max_concurrent_tasks) >= p_agent.max_concurrent_tasks then 'full'
        when forebay._room(p_agent, p_now) = 0 then 'out_of_requests'
        when not forebay._head_fits(p_agent, forebay._head(p_agent.agent, p_now), p_now) then 'out_of_tokens'
        else 'open'
    end;
end;
$function$;

comment on function forebay._agent_state is 'In one word, whether the agent admits: closed, paused, full, out_of_requests, out_of_tokens or open.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_agent_state.sql', 'repeatable', '6c51a645f1486ded032ff9a1d208e0ed215dfb1d11ba35d7e07f4d427af95d2e', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_ask_wakeup.sql
create or replace function forebay._ask_wakeup(p_is_work boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Ask for dashboards to be woken when this transaction commits, and dispatchers too if p_is_work; once is enough.
--
-- Writes  forebay.wakeups
declare
    v_marker text := pg_current_xact_id() || case when p_is_work then ' work' else ' changes' end;
begin
    if current_setting('forebay.wakeup', true) in (v_marker, pg_current_xact_id() || ' work') then
        return;
    end if;
    insert into forebay.wakeups (is_work) values (p_is_work);
    perform set_config('forebay.wakeup', v_marker, true);
end;
$function$;

comment on function forebay._ask_wakeup is 'Ask for dashboards to be woken when this transaction commits, and dispatchers too if p_is_work; once is enough.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_ask_wakeup.sql', 'repeatable', 'ea3529365d510cf512f1a0078fc072fce111b6a7ff87d7fd89c6b8a8af7a50eb', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_audit.sql
create or replace function forebay._audit(
    p_action   text,
    p_task_ids bigint[],
    p_agent    text,
    p_reason   text,
    p_actor    text,
    p_details  jsonb default null
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record an act: one row for each task of p_task_ids, or one row for p_agent when that is null.
begin
    insert into forebay.audit_log (acted_at, action, task_id, agent, session_role, actor, reason, details)
    select forebay._now(), p_action, ids.task_id, p_agent, session_user, left(p_actor, 200), left(p_reason, 2000), p_details
    from unnest(coalesce(p_task_ids, array[null::bigint])) as ids (task_id);
end;
$function$;

comment on function forebay._audit is 'Record an act: one row for each task of p_task_ids, or one row for p_agent when that is null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_audit.sql', 'repeatable', '5aaafc89472ce203c6af52123fd031c69f7d52f9936208a041d35543c3aab3da', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_backoff.sql
create or replace function forebay._backoff(p_base interval, p_max interval, p_attempt_count integer)
    returns interval
    language sql
    volatile
    security invoker
as $function$
-- How long a task waits after its p_attempt_count-th spent attempt: doubling from p_base up to p_max, less up to a tenth.
--
-- In seconds as numeric, and with the exponent held at 60, so that no count overflows; the tenth is random, so that tasks
-- which failed together do not return together.
select make_interval(secs => (
    least(
        extract(epoch from p_max),
        extract(epoch from p_base) * power(2::numeric, least(greatest(p_attempt_count, 1) - 1, 60))
    ) * (1 - random()::numeric / 10)
)::double precision);
$function$;

comment on function forebay._backoff is 'How long a task waits after its p_attempt_count-th spent attempt: doubling from p_base up to p_max, less up to a tenth.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_backoff.sql', 'repeatable', 'e5fd54a476f52e7631d845c69930d339c8775bc8229726e12a0cc90668661f04', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cancel.sql
create or replace function forebay._cancel(p_task_ids bigint[], p_reason text, p_actor text)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel tasks that wait or run. Their slots are free at once; their tokens stay charged until they are settled.
--
-- Returns  one row a distinct id, by id; effect is cancelled, none (it had ended) or unknown
-- Writes   forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks    the tasks, by id, then their attempts, by id
-- Errors   22023  p_task_ids is null
declare
    v_ids       bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_cancelled bigint[];
    v_now       timestamptz;
begin
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    update forebay.task_attempts as a
    set status = 'cancelled', finished_at = greatest(v_now, a.started_at), is_stop_pending = a.run_ended_at is null
    where a.finished_at is null
        and a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_ids));

    with cancelled as (
        update forebay.tasks as t
        set status = 'cancelled', finished_at = greatest(v_now, t.created_at), attempt_id = null, locked_by = null
        where t.task_id = any(v_ids) and t.status in ('enqueued', 'processing')
        returning t.task_id
    )
    select coalesce(array_agg(c.task_id), '{}') into v_cancelled from cancelled as c;
    perform forebay._audit('cancel', v_cancelled, null, p_reason, p_actor);

    return query select * from forebay._effects(v_ids, v_cancelled, 'cancelled');
end;
$function$;

comment on function forebay._cancel is 'Cancel tasks that wait or run. Their slots are free at once; their tokens stay charged until they are settled.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cancel.sql', 'repeatable', 'f153b94eca5ced28d6bd1a30fa51b754bb33587a9b07bacab7dc688527cbd636', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_candidates.sql
create or replace function forebay._candidates(
    p_agents       text[],
    p_launchers    text[],
    out agent      text,
    out priority   integer
)
    returns setof record
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agents that could start a task now, each with the priority of the best that waits: a look without any lock.
--
-- An agent that is full, or has nothing waiting, counts with the tasks whose leases ran out: they can go back in line.
-- Volatile, so that a second look in one statement sees what the first claim did.
--
-- Returns  one row an agent, in no set order
declare
    v_now    timestamptz := forebay._now();
    v_agent  forebay.agents;
    v_room   integer;
    v_head   forebay.tasks;
begin
    for v_agent in
        select a.* from forebay.agents as a
        where (p_agents is null or a.agent = any(p_agents))
            and a.launcher = any(coalesce(p_launchers, case when p_agents is null then array['pull'] else array[a.launcher] end))
            and (a.paused_until is null or a.paused_until <= v_now)
    loop
        agent := v_agent.agent;
        v_room := forebay._room(v_agent, v_now);
        v_head := case when v_room > 0 then forebay._head(agent, v_now) end;
        if v_head.task_id is not null then
            priority := case when forebay._head_fits(v_agent, v_head, v_now) then v_head.priority::integer end;
        else
            priority := forebay._expired_priority(agent, v_now);
            if priority is not null and v_room = 0 then
                priority := greatest(priority, (forebay._head(agent, v_now)).priority::integer);
            end if;
        end if;
        if priority is not null then
            return next;
        end if;
    end loop;
end;
$function$;

comment on function forebay._candidates is 'The agents that could start a task now, each with the priority of the best that waits: a look without any lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_candidates.sql', 'repeatable', '487d3f5274a226bfaa1e07cfa6a305c0c6eaaaeffd59e2936ed3969ad2691cb8', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_claim.sql
create or replace function forebay._claim(p_worker text, p_agent text, p_limit integer, p_floor integer)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Admit up to p_limit of the agent's tasks of priority p_floor and more (null: any); the caller holds the agent's lock.
--
-- p_limit is within the room that _open_line counted. The time of the claim is read here, after the count, so that no
-- attempt that was not counted ends after it.
--
-- Returns  one row an attempt, in the order of the line
-- Locks    tasks and attempts without waiting
declare
    v_agent  forebay.agents := forebay._get_agent(p_agent);
    v_levels record;
    v_now    timestamptz := forebay._now();
begin
    if v_agent.paused_until > v_now then
        return;
    end if;
    select l.* into v_levels from forebay._levels(v_agent, v_now) as l;
    return query select * from forebay._admit(
        p_worker, v_agent, p_limit, p_floor, v_levels.tokens, v_levels.requests, v_levels.folded, v_now
    );
end;
$function$;

comment on function forebay._claim is 'Admit up to p_limit of the agent''s tasks of priority p_floor and more (null: any); the caller holds the agent''s lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_claim.sql', 'repeatable', '86b7fda45dac44455fa26f3c5b991795ef460af6a4c19e8ea39b62c63e5ac0ca', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cluster.sql
create or replace function forebay._cluster()
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What tells this database cluster from every other: made by initdb, kept by a physical copy, not by a dump.
begin
    return (select control.system_identifier from pg_control_system() as control);
end;
$function$;

comment on function forebay._cluster is 'What tells this database cluster from every other: made by initdb, kept by a physical copy, not by a dump.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cluster.sql', 'repeatable', 'd4d75bb468ce6263c7c032552073e6d08fd4cd40da05f2ebc7b625559da548a9', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_count_ahead.sql
create or replace function forebay._count_ahead(p_task forebay.tasks, p_now timestamptz)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks stand in line before this one, those due by p_now included; counted up to 10,000 of a kind.
begin
    return (
        select
            (
                select count(*) from (
                    select 1 from forebay.tasks as t
                    where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready and t.priority > p_task.priority
                    limit 10000
                ) as more_urgent
            ) + (
                select count(*) from (
                    select 1 from forebay.tasks as t
                    where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready and t.priority = p_task.priority
                        and (t.created_at, t.task_id) < (p_task.created_at, p_task.task_id)
                    limit 10000
                ) as earlier
            ) + (
                select count(*) from (
                    select 1 from forebay.tasks as t
                    where t.agent = p_task.agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
                        and (-t.priority, t.created_at, t.task_id) < (-p_task.priority, p_task.created_at, p_task.task_id)
                    limit 10000
                ) as due
            )
    );
end;
$function$;

comment on function forebay._count_ahead is 'How many of the agent''s tasks stand in line before this one, those due by p_now included; counted up to 10,000 of a kind.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_count_ahead.sql', 'repeatable', '4a65dad55f279dfa5a1752e84bc74bdef796721ed3adb1e7cd844837cc02685b', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_effects.sql
create or replace function forebay._effects(p_task_ids bigint[], p_changed bigint[], p_effect text)
    returns setof forebay.task_effect
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Report an act on tasks: p_effect for those in p_changed, none for the others, unknown for ids that no task has.
begin
    return query
    select
        ids.task_id,
        t.status,
        case when t.task_id is null then 'unknown' when changed.task_id is not null then p_effect else 'none' end
    from unnest(p_task_ids) as ids (task_id)
    left join forebay.tasks as t on t.task_id = ids.task_id
    left join unnest(p_changed) as changed (task_id) on changed.task_id = ids.task_id
    order by ids.task_id;
end;
$function$;

comment on function forebay._effects is 'Report an act on tasks: p_effect for those in p_changed, none for the others, unknown for ids that no task has.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_effects.sql', 'repeatable', '44bdbb6316fa21f102773ec2e9e28e5c092149d797b0100fe87bb4a5d6ce5348', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_end_expired.sql
create or replace function forebay._end_expired(p_agent text, p_limit integer)
    returns forebay.sweep_result
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End the attempts that have lost their right to their task, and put the tasks back in line, or fail them.
--
-- A lost lease goes back at once; a passed deadline waits as any failure does. An attempt was counted when it was claimed,
-- so a task that kills its worker runs out of attempts. p_agent null means every agent.
--
-- Writes  forebay.tasks, forebay.task_attempts
-- Locks   the tasks, by id, then their attempts, skipping what somebody else holds
declare
    v_limits   forebay.installation := forebay._limits();
    v_now      timestamptz := forebay._now();
    v_tasks    bigint[];
    v_attempts bigint[];
    v_swept    forebay.sweep_result := (0, 0, 0)::forebay.sweep_result;
begin
    select array_agg(a.task_id) into v_tasks
    from forebay.task_attempts as a
    where a.finished_at is null and (p_agent is null or a.agent = p_agent)
        and forebay._is_expired(a, v_now, v_limits.adoption_grace, v_limits.report_grace);
    if v_tasks is null then
        return v_swept;
    end if;

    select array_agg(locked.task_id) into v_tasks from (
        select t.task_id
        from forebay.tasks as t
        where t.task_id = any(v_tasks) and t.status = 'processing'
        order by t.task_id
        limit p_limit
        for no key update skip locked
    ) as locked;
    select array_agg(locked.attempt_id) into v_attempts from (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_tasks))
            and a.finished_at is null and forebay._is_expired(a, v_now, v_limits.adoption_grace, v_limits.report_grace)
        order by a.attempt_id
        for no key update skip locked
    ) as locked;

    with ended as (
        update forebay.task_attempts as a
        set status = case when a.deadline_at <= v_now then 'failed' else 'lost' end,
            error = forebay._expiry_error(a, v_now), finished_at = greatest(v_now, a.started_at),
            is_stop_pending = a.run_ended_at is null
        where a.attempt_id = any(v_attempts)
        returning a.*
    ), verdicts as (
        select
            e.task_id, e.error, e.status = 'lost' as is_lost,
            forebay._may_retry(g, t.attempt_count, t.max_attempts) and (e.status = 'failed' or g.on_lost_lease = 'retry')
                as may_retry,
            forebay._backoff(g.backoff_base, g.backoff_max, t.attempt_count) as backoff
        from ended as e
        inner join forebay.agents as g on g.agent = e.agent
        inner join forebay.tasks as t on t.task_id = e.task_id
    ), moved as (
        update forebay.tasks as t
        set status = case when v.may_retry then 'enqueued' else 'failed' end,
            error = v.error,
            attempt_id = null, locked_by = null,
            finished_at = case when not v.may_retry then greatest(v_now, t.created_at) end,
            is_ready = v.is_lost,
            available_at = case when not v.may_retry then t.available_at when v.is_lost then v_now else v_now + v.backoff end
        from verdicts as v
        where t.task_id = v.task_id
        returning t.status
    )
    select (count(*) filter (where m.status = 'enqueued'))::integer, (count(*) filter (where m.status = 'failed'))::integer, 0
    into v_swept
    from moved as m;
    return v_swept;
end;
$function$;

comment on function forebay._end_expired is 'End the attempts that have lost their right to their task, and put the tasks back in line, or fail them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_end_expired.sql', 'repeatable', 'a072c760eca2ca7ef2facc2463f81fb0844e9f05b28c5e9bbcdb2ca5a3052791', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_end_observed.sql
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
-- Returns  what was done: retry, requeue, pause_agent, or fail when the task failed by it
-- Writes   forebay.task_attempts, forebay.tasks, forebay.agent_settlements
declare
    v_is_late    boolean := p_attempt.deadline_at <= p_now;
    v_is_unspent boolean := not v_is_late and p_outcome.outcome in ('requeue', 'pause_agent');
    v_error      jsonb := case
        when v_is_late then forebay._expiry_error(p_attempt, p_now)
        else jsonb_build_object(
            'kind', 'infrastructure', 'message', forebay._run_words(p_attempt.run_state), 'run_id', p_attempt.run_id
        )
    end;
    v_status     text;
begin
    update forebay.task_attempts as a
    set status = case
            when v_is_unspent then 'released'
            when v_is_late or p_outcome.outcome = 'fail' then 'failed'
            else 'lost'
        end,
        error = v_error, finished_at = greatest(p_now, a.started_at), is_stop_pending = not p_outcome.is_ended
    where a.attempt_id = p_attempt.attempt_id;
    if v_is_unspent then
        perform forebay._settle(p_attempt, true);
    end if;
    v_status := forebay._give_back(
        p_task, p_agent, v_error,
        v_is_late or p_outcome.outcome <> 'fail' and (v_is_unspent or p_agent.on_lost_lease = 'retry'),
        null, v_is_unspent and p_task.release_count < p_agent.max_releases
    );
    return case when v_status = 'failed' then 'fail' when v_is_late then 'retry' else p_outcome.outcome end;
end;
$function$;

comment on function forebay._end_observed is 'End an open attempt whose run was seen in a state that does not renew, or whose deadline has passed; the caller holds it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_end_observed.sql', 'repeatable', 'd9f7896a577be3bb394906b77900e30513cf7dc499cd699db0ffdffbbf6f88cf', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_error.sql
create or replace function forebay._error(p_error jsonb)
    returns jsonb
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The error as it is stored: with a kind that is known; one that is not moves to reported_kind.
--
-- Errors  22023  p_error is no object, or kind or message is no string
declare
    v_kind text;
begin
    if p_error is null or jsonb_typeof(p_error) <> 'object' then
        raise exception 'the error must be a JSON object with kind and message' using errcode = '22023';
    end if;
    v_kind := forebay._json_text(p_error, 'kind');
    perform forebay._json_text(p_error, 'message');
    if v_kind in (
        'rate_limited', 'overloaded', 'context_too_long', 'content_filtered', 'bad_input', 'infrastructure', 'timeout',
        'agent_bug'
    ) then
        return p_error;
    end if;
    return p_error || '{"kind": "agent_bug"}'
        || case when v_kind is null then '{}'::jsonb else jsonb_build_object('reported_kind', v_kind) end;
end;
$function$;

comment on function forebay._error is 'The error as it is stored: with a kind that is known; one that is not moves to reported_kind.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_error.sql', 'repeatable', 'adb4a051012f74a5904509a9301057f0be0eddb4678aa32e5d142ebe158240c1', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_estimate.sql
create or replace function forebay._estimate(p_agent forebay.agents, p_task forebay.tasks)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- What a claim of the task charges: its estimate, or the agent's default.
select coalesce(p_task.estimated_tokens, p_agent.default_estimated_tokens);
$function$;

comment on function forebay._estimate is 'What a claim of the task charges: its estimate, or the agent''s default.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_estimate.sql', 'repeatable', '90a7b3cd67185b61ce1978eee7034186277545a63f17ea43e9cc965cd387cfe5', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_exact.sql
create or replace function forebay._exact(p_duration interval)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- The duration in seconds alone: a day added to a time would be 23 or 25 hours where the session's zone changes its clocks.
select make_interval(secs => extract(epoch from p_duration)::double precision);
$function$;

comment on function forebay._exact is 'The duration in seconds alone: a day added to a time would be 23 or 25 hours where the session''s zone changes its clocks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_exact.sql', 'repeatable', '455671cb8f315cfb1c726aec478afb7bfcc0afb89864fe18ac50baabd064ed63', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_expired_priority.sql
create or replace function forebay._expired_priority(p_agent text, p_now timestamptz)
    returns integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The best priority of the tasks that could be taken from the agent's workers now; null when there is none.
declare
    v_limits forebay.installation := forebay._limits();
begin
    return (
        select max((select t.priority from forebay.tasks as t where t.task_id = a.task_id))::integer
        from forebay.task_attempts as a
        where a.agent = p_agent and a.finished_at is null
            and forebay._is_expired(a, p_now, v_limits.adoption_grace, v_limits.report_grace)
    );
end;
$function$;

comment on function forebay._expired_priority is 'The best priority of the tasks that could be taken from the agent''s workers now; null when there is none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_expired_priority.sql', 'repeatable', '45e25201d39ea10007c2a8a0aed7207ecff469d4f8da687195e294691edab66b', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_expiry_error.sql
create or replace function forebay._expiry_error(p_attempt forebay.task_attempts, p_now timestamptz)
    returns jsonb
    language sql
    stable
    security invoker
as $function$
-- Say in words why an attempt lost its right to the task.
select case
    when p_attempt.deadline_at <= p_now then jsonb_build_object(
        'kind', 'timeout',
        'message', format('the attempt ran longer than %s', p_attempt.deadline_at - p_attempt.started_at)
    )
    when p_attempt.run_ended_at is not null then jsonb_build_object(
        'kind', 'infrastructure', 'message', format('run %s ended without a report', p_attempt.run_id)
    )
    else jsonb_build_object(
        'kind', 'infrastructure', 'message', format('lease expired: worker %s stopped renewing it', p_attempt.worker)
    )
end;
$function$;

comment on function forebay._expiry_error is 'Say in words why an attempt lost its right to the task.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_expiry_error.sql', 'repeatable', '0760b11b9f0946d5fad4fc1c65b5019285f91641829a52fcf34ff88806d86f47', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_explain_running.sql
create or replace function forebay._explain_running(p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say who runs a processing task, and until when its lease is good.
declare
    v_attempt forebay.task_attempts;
    v_answer  forebay.task_explanation;
begin
    select a.* into v_attempt from forebay.task_attempts as a where a.attempt_id = p_task.attempt_id;
    v_answer.waiting_until := v_attempt.lease_expires_at;
    if v_attempt.lease_expires_at <= forebay._now() then
        v_answer.reason := 'lease_expired';
        v_answer.explanation := format(
            'Worker %s stopped renewing its lease at %s: %s.', v_attempt.worker, v_attempt.lease_expires_at,
            case
                when forebay._is_external(v_attempt.launcher) then 'another driver may adopt its run, then a sweep takes the task'
                else 'the next sweep takes the task from it'
            end
        );
    else
        v_answer.reason := 'running';
        v_answer.explanation := format(
            'Attempt %s runs at worker %s since %s; its deadline is %s.',
            v_attempt.attempt_no, v_attempt.worker, v_attempt.started_at, v_attempt.deadline_at
        );
    end if;
    return v_answer;
end;
$function$;

comment on function forebay._explain_running is 'Say who runs a processing task, and until when its lease is good.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_explain_running.sql', 'repeatable', '3411c357d42f817785fb703d0a51a478413e69718d0006c8ff29efa24989f2b8', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_explain_waiting.sql
create or replace function forebay._explain_waiting(p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what keeps an enqueued task from starting: the first of the hindrances that dequeue would meet.
declare
    v_now    timestamptz := forebay._now();
    v_agent  forebay.agents := forebay._get_agent(p_task.agent);
    v_answer forebay.task_explanation;
begin
    v_answer.reason := forebay._agent_state(v_agent, v_now);
    if not forebay._may_dispatch() then
        v_answer.reason := 'not_open';
    elsif p_task.available_at > v_now and v_answer.reason <> 'paused' then
        v_answer.reason := 'delayed';
    end if;

    v_answer.ahead := case when v_answer.reason <> 'delayed' then forebay._count_ahead(p_task, v_now) end;
    if v_answer.reason = 'open' then
        v_answer.reason := case when v_answer.ahead > 0 then 'behind_others' else 'ready' end;
    end if;

    v_answer.waiting_until := case v_answer.reason
        when 'paused' then nullif(v_agent.paused_until, 'infinity')
        when 'delayed' then p_task.available_at
        when 'out_of_requests' then forebay._refilled_at(v_agent, null, v_now)
        when 'out_of_tokens' then forebay._refilled_at(v_agent, forebay._estimate(v_agent, forebay._head(v_agent.agent, v_now)), v_now)
    end;
    v_answer.explanation := forebay._waiting_words(v_answer, v_agent, p_task);
    return v_answer;
end;
$function$;

comment on function forebay._explain_waiting is 'Say what keeps an enqueued task from starting: the first of the hindrances that dequeue would meet.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_explain_waiting.sql', 'repeatable', 'f4eb04032facbde02df8480c70c9d4ebb30a02a2d2a759b9c449ed21e55c7dcc', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_fits.sql
create or replace function forebay._fits(
    p_place  bigint,
    p_tokens numeric,
    p_upto   numeric,
    p_level  numeric,
    p_burst  numeric
)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the task at p_place of a claim may be admitted: it needs p_tokens, and with those before it p_upto.
--
-- A task larger than the burst is admitted as the first of its claim when the bucket is full, and takes it into debt:
-- never a silent endless wait. A null level means that tokens are not limited.
select
    p_level is null
    or p_upto <= p_level
    or (p_place = 1 and p_tokens > p_burst and p_level >= p_burst);
$function$;

comment on function forebay._fits is 'Whether the task at p_place of a claim may be admitted: it needs p_tokens, and with those before it p_upto.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_fits.sql', 'repeatable', '875d338575ae51616b453d2afab136e6ba187f219eb5c298502d93cbcda18355', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_agent.sql
create or replace function forebay._get_agent(p_agent text)
    returns forebay.agents
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent of that name, to the letter: the copy of p_agent is compared by the default collation.
--
-- Errors  22023  p_agent is null
--         QF301  there is none
declare
    v_name  text := p_agent;
    v_agent forebay.agents;
begin
    if p_agent is null then
        raise exception 'p_agent must not be null' using errcode = '22023';
    end if;
    select a.* into v_agent from forebay.agents as a where a.agent = v_name;
    if not found then
        raise exception 'agent "%" does not exist', left(p_agent, 200)
            using errcode = 'QF301', hint = 'Register it with forebay.register_agent, or see forebay.agent_status().';
    end if;
    return v_agent;
end;
$function$;

comment on function forebay._get_agent is 'The agent of that name, to the letter: the copy of p_agent is compared by the default collation.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_agent.sql', 'repeatable', '7bd9baf71d420bc9044e02d8d9a06fcb4fe1960d03168ddcf473ec13a2ff2b61', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_attempt.sql
create or replace function forebay._get_attempt(p_attempt_id bigint)
    returns forebay.task_attempts
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The attempt of that id.
--
-- Errors  22023  p_attempt_id is null
--         QF304  there is none
declare
    v_attempt forebay.task_attempts;
begin
    if p_attempt_id is null then
        raise exception 'p_attempt_id must not be null' using errcode = '22023';
    end if;
    select a.* into v_attempt from forebay.task_attempts as a where a.attempt_id = p_attempt_id;
    if not found then
        raise exception 'attempt % does not exist', p_attempt_id
            using errcode = 'QF304', hint = 'forebay.dequeue answers with attempt_id beside task_id.';
    end if;
    return v_attempt;
end;
$function$;

comment on function forebay._get_attempt is 'The attempt of that id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_attempt.sql', 'repeatable', 'fc2a2167cc87ae79b74d68c51172e99cb4b53992fa4d9ce23097258a47d34afb', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_batch.sql
create or replace function forebay._get_batch(p_batch_id bigint)
    returns forebay.batches
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch of that id.
--
-- Errors  22023  p_batch_id is null
--         QF302  there is none
declare
    v_batch forebay.batches;
begin
    if p_batch_id is null then
        raise exception 'p_batch_id must not be null' using errcode = '22023';
    end if;
    select b.* into v_batch from forebay.batches as b where b.batch_id = p_batch_id;
    if not found then
        raise exception 'batch % does not exist', p_batch_id
            using errcode = 'QF302', hint = 'forebay.open_batch opens one.';
    end if;
    return v_batch;
end;
$function$;

comment on function forebay._get_batch is 'The batch of that id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_batch.sql', 'repeatable', '07688b3d7f07308ef032d81b5584e5b6c4b4062a81202492a8db34fde63408bf', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_task.sql
create or replace function forebay._get_task(p_task_id bigint)
    returns forebay.tasks
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The task of that id.
--
-- Errors  22023  p_task_id is null
--         QF303  there is none
declare
    v_task forebay.tasks;
begin
    if p_task_id is null then
        raise exception 'p_task_id must not be null' using errcode = '22023';
    end if;
    select t.* into v_task from forebay.tasks as t where t.task_id = p_task_id;
    if not found then
        raise exception 'task % does not exist', p_task_id
            using errcode = 'QF303', hint = 'forebay.list_tasks() has the ids.';
    end if;
    return v_task;
end;
$function$;

comment on function forebay._get_task is 'The task of that id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_task.sql', 'repeatable', '30a9c110ca13ef8bffe364086364c57e823a968ae2aa350ccc62d948def7f861', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_give_back.sql
create or replace function forebay._give_back(
    p_task         forebay.tasks,
    p_agent        forebay.agents,
    p_error        jsonb,
    p_retryable    boolean,
    p_retry_in     interval,
    p_is_unspent   boolean
)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Move a processing task whose attempt has ended without success: back in line, or to failed.
--
-- p_retry_in null means the agent's backoff; p_is_unspent takes the attempt back, and counts a release instead.
--
-- Returns  the task's status after it
-- Writes   forebay.tasks
declare
    v_now       timestamptz := forebay._now();
    v_may_retry boolean := p_is_unspent
        or p_retryable and forebay._may_retry(p_agent, p_task.attempt_count, p_task.max_attempts);
    v_delay     interval := coalesce(
        forebay._exact(p_retry_in), forebay._backoff(p_agent.backoff_base, p_agent.backoff_max, p_task.attempt_count)
    );
begin
    update forebay.tasks as t
    set status = case when v_may_retry then 'enqueued' else 'failed' end,
        attempt_id = null, locked_by = null,
        attempt_count = t.attempt_count - p_is_unspent::integer,
        release_count = t.release_count + p_is_unspent::integer,
        error = case when p_is_unspent then t.error else p_error end,
        finished_at = case when not v_may_retry then greatest(v_now, t.created_at) end,
        available_at = case when v_may_retry then v_now + v_delay else t.available_at end,
        is_ready = v_may_retry and v_delay = interval '0'
    where t.task_id = p_task.task_id;
    return case when v_may_retry then 'enqueued' else 'failed' end;
end;
$function$;

comment on function forebay._give_back is 'Move a processing task whose attempt has ended without success: back in line, or to failed.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_give_back.sql', 'repeatable', '64d6d9ca58876f9dd759e7f5e14f2fe275bb2208835ad9b789946ebd96ef9307', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_head.sql
create or replace function forebay._head(p_agent text, p_now timestamptz)
    returns forebay.tasks
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first task in the agent's line, those that are due by p_now and not woken yet included; null when nothing waits.
declare
    v_head forebay.tasks;
begin
    select h.* into v_head
    from (
        (
            select t.* from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready
            order by t.priority desc, t.created_at, t.task_id
            limit 1
        )
        union all
        (
            select t.* from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
            order by t.priority desc, t.created_at, t.task_id
            limit 1
        )
    ) as h
    order by h.priority desc, h.created_at, h.task_id
    limit 1;
    return v_head;
end;
$function$;

comment on function forebay._head is 'The first task in the agent''s line, those that are due by p_now and not woken yet included; null when nothing waits.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_head.sql', 'repeatable', '0fa29a8e81305b9d8376a201a150267cccdcd27b4f5ee5c2abd912669854753d', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_head_fits.sql
create or replace function forebay._head_fits(p_agent forebay.agents, p_head forebay.tasks, p_now timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether the agent's bucket would admit the first task in its line, by a look without any lock; true when none waits.
declare
    v_tokens bigint := forebay._estimate(p_agent, p_head);
begin
    return p_agent.max_tpm is null or p_head.task_id is null or forebay._fits(
        1, v_tokens, v_tokens, (forebay._levels(p_agent, p_now)).tokens, forebay._token_burst(p_agent)
    );
end;
$function$;

comment on function forebay._head_fits is 'Whether the agent''s bucket would admit the first task in its line, by a look without any lock; true when none waits.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_head_fits.sql', 'repeatable', '4d7638866f262b97ae0201853a4e39a3a5c5df1be97c62d58b0196de8f9d430c', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_in_use.sql
create or replace function forebay._in_use(p_agent text, p_at_most integer default null)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many tasks of the agent are processing, counted up to p_at_most (null: all of them).
begin
    return (
        select count(*)
        from (select 1 from forebay.task_attempts as a where a.agent = p_agent and a.finished_at is null limit p_at_most) as open
    );
end;
$function$;

comment on function forebay._in_use is 'How many tasks of the agent are processing, counted up to p_at_most (null: all of them).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_in_use.sql', 'repeatable', 'c8790fb5345e871914d116c638a4d307972084fb9bc5a1cac61f8abcf5a49908', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_copy.sql
create or replace function forebay._is_copy(p_installation forebay.installation)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether this database is a branch, or a copy that was restored in another cluster than it was installed in.
begin
    return p_installation.is_branch or p_installation.system_identifier <> forebay._cluster();
end;
$function$;

comment on function forebay._is_copy is 'Whether this database is a branch, or a copy that was restored in another cluster than it was installed in.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_copy.sql', 'repeatable', 'a16d5c03b1f76d519b8dd00c4238eb98c3b6a2739cb4328067abd00fe2e70bfd', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_expired.sql
create or replace function forebay._is_expired(
    p_attempt        forebay.task_attempts,
    p_now            timestamptz,
    p_adoption_grace interval,
    p_report_grace   interval
)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether an open attempt has lost its right to the task: deadline passed, lease run out, or run ended without a report.
select
    p_attempt.deadline_at <= p_now
    or p_attempt.run_ended_at + p_report_grace <= p_now
    or p_attempt.lease_expires_at
    + case when forebay._is_external(p_attempt.launcher) then p_adoption_grace else interval '0' end <= p_now;
$function$;

comment on function forebay._is_expired is 'Whether an open attempt has lost its right to the task: deadline passed, lease run out, or run ended without a report.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_expired.sql', 'repeatable', 'b8d0c5dd7f575401868679a842526a77e3b04ccc36c49aaa470b21fe9362aa12', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_external.sql
create or replace function forebay._is_external(p_launcher text)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the launcher's runs live on outside the driver, so that another driver can adopt them.
select p_launcher = 'lakeflow';
$function$;

comment on function forebay._is_external is 'Whether the launcher''s runs live on outside the driver, so that another driver can adopt them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_external.sql', 'repeatable', '5e10841f05851a8d8fd31bcd808d016008cb801c84c58b52386a12c99b567b0b', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_limited.sql
create or replace function forebay._is_limited(p_agent forebay.agents)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether admission for the agent has anything to count, and so needs the agent's lock.
select p_agent.max_concurrent_tasks is not null or p_agent.max_tpm is not null or p_agent.max_rpm is not null;
$function$;

comment on function forebay._is_limited is 'Whether admission for the agent has anything to count, and so needs the agent''s lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_limited.sql', 'repeatable', '37ef8a52e51582e39cb931859f9c121ba59ada12b7d53a7ab8b8f73fcb8f2926', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_boolean.sql
create or replace function forebay._json_boolean(p_document jsonb, p_key text)
    returns boolean
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The truth value under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there
begin
    if coalesce(jsonb_typeof(p_document -> p_key), 'null') not in ('null', 'boolean') then
        raise exception '"%" must be true or false, not %', p_key, left((p_document -> p_key)::text, 60)
            using errcode = '22023';
    end if;
    return (p_document ->> p_key)::boolean;
end;
$function$;

comment on function forebay._json_boolean is 'The truth value under p_key, null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_boolean.sql', 'repeatable', 'a769eaa3a99ba7bf2bb0b51107d5b8bd2f880cbe03f932e1c5c10e75a246196e', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_integer.sql
create or replace function forebay._json_integer(
    p_document jsonb,
    p_key      text,
    p_from     bigint default -9223372036854775808,
    p_to       bigint default 9223372036854775807
)
    returns bigint
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The whole number under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there, or a number outside p_from to p_to
declare
    v_number numeric := forebay._json_number(p_document, p_key);
begin
    if v_number <> trunc(v_number) or v_number not between p_from and p_to then
        raise exception '"%" must be a whole number from % to %, not %', p_key, p_from, p_to, left(v_number::text, 60)
            using errcode = '22023';
    end if;
    return v_number::bigint;
end;
$function$;

comment on function forebay._json_integer is 'The whole number under p_key, null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_integer.sql', 'repeatable', 'aa89010552744c1f8531110d1ff75fbf302d3f7b3c90de56fa26ec9d05963fe6', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_name.sql
create or replace function forebay._json_name(p_document jsonb, p_key text, p_max integer)
    returns text
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The text under p_key, which is not empty and has at most p_max characters; null where it is absent or null.
--
-- Errors  22023  something else stands there
declare
    v_text text := forebay._json_text(p_document, p_key);
begin
    if char_length(v_text) not between 1 and p_max then
        raise exception '"%" must have 1 to % characters', p_key, p_max using errcode = '22023';
    end if;
    return v_text;
end;
$function$;

comment on function forebay._json_name is 'The text under p_key, which is not empty and has at most p_max characters; null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_name.sql', 'repeatable', 'a0b3eed59e65b0591bd4f5704c3e6ef60fa68219e808eca9f4f1b0698e44ede5', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_number.sql
create or replace function forebay._json_number(p_document jsonb, p_key text)
    returns numeric
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The number under p_key, null where it is absent or null; a string that spells a number counts as one.
--
-- Errors  22023  something else stands there
declare
    v_type text := coalesce(jsonb_typeof(p_document -> p_key), 'null');
    v_text text := p_document ->> p_key;
begin
    if v_type = 'null' then
        return null;
    end if;
    if v_type = 'number' or (v_type = 'string' and v_text ~ '^[[:space:]]*[+-]?[0-9]{1,40}([.][0-9]{1,40})?[[:space:]]*$') then
        return v_text::numeric;
    end if;
    raise exception '"%" must be a number, not %', p_key, left((p_document -> p_key)::text, 60) using errcode = '22023';
end;
$function$;

comment on function forebay._json_number is 'The number under p_key, null where it is absent or null; a string that spells a number counts as one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_number.sql', 'repeatable', 'dcd95cc0a395edf41a4c5d74ff8aadebccdfa853c68cebce1dc2a9f6ab99a695', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_text.sql
create or replace function forebay._json_text(p_document jsonb, p_key text)
    returns text
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The text under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there
begin
    if coalesce(jsonb_typeof(p_document -> p_key), 'null') not in ('null', 'string') then
        raise exception '"%" must be a string, not %', p_key, jsonb_typeof(p_document -> p_key) using errcode = '22023';
    end if;
    return p_document ->> p_key;
end;
$function$;

comment on function forebay._json_text is 'The text under p_key, null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_text.sql', 'repeatable', 'b6d9b9a01a4d1b56a80d552adfbb0d6c7c3a07ba672d8fbe043afdec50e15f5c', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_time.sql
create or replace function forebay._json_time(p_document jsonb, p_key text)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The time under p_key (ISO 8601 with its offset), null where it is absent or null.
--
-- Errors  22023  something else stands there, or a time without an offset, which would mean the session's zone
declare
    v_text text := forebay._json_text(p_document, p_key);
begin
    if v_text is null then
        return null;
    end if;
    if v_text !~ '^[[:space:]]*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)[[:space:]]*$' then
        raise exception '"%" must be a time like 2026-01-31T12:00:00Z, not "%"', p_key, left(v_text, 60)
            using errcode = '22023';
    end if;
    begin
        return v_text::timestamptz;
    exception when data_exception then
        raise exception '"%" is no time that exists: "%"', p_key, left(v_text, 60) using errcode = '22023';
    end;
end;
$function$;

comment on function forebay._json_time is 'The time under p_key (ISO 8601 with its offset), null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_time.sql', 'repeatable', 'b1d3406939b8c43b6e7dfc1744e19655cdca0193c41106914fdec157031a6838', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_levels.sql
create or replace function forebay._levels(
    p_agent      forebay.agents,
    p_now        timestamptz,
    out tokens   numeric,
    out requests numeric,
    out folded   bigint[]
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The levels of the agent's two buckets as of p_now, with its settlements folded in at the moment each was made.
--
-- Returns  null levels where there is no such limit; folded: the settlements that the level contains
declare
    v_budget     forebay.agent_budgets;
    v_settlement forebay.agent_settlements;
    v_burst      numeric := forebay._token_burst(p_agent);
    v_at         timestamptz;
begin
    select b.* into v_budget from forebay.agent_budgets as b where b.agent = p_agent.agent;
    requests := forebay._refill(
        v_budget.requests, forebay._request_burst(p_agent), p_agent.max_rpm, v_budget.refilled_at, p_now
    );
    if p_agent.max_tpm is null then
        return;
    end if;

    tokens := v_budget.tokens;
    v_at := v_budget.refilled_at;
    for v_settlement in
        select s.* from forebay.agent_settlements as s
        where s.agent = p_agent.agent
        order by s.settled_at, s.settlement_id
    loop
        tokens := forebay._refill(tokens, v_burst, p_agent.max_tpm, v_at, v_settlement.settled_at);
        tokens := least(v_burst, tokens + v_settlement.tokens);
        v_at := greatest(v_at, v_settlement.settled_at);
        folded := folded || v_settlement.settlement_id;
    end loop;
    tokens := forebay._refill(tokens, v_burst, p_agent.max_tpm, v_at, p_now);
end;
$function$;

comment on function forebay._levels is 'The levels of the agent''s two buckets as of p_now, with its settlements folded in at the moment each was made.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_levels.sql', 'repeatable', '8679dfb0a58ae6df64599eeb460c795171291b4a674084ca890f11cb3dc84257', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_limits.sql
create or replace function forebay._limits()
    returns forebay.installation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The one row of settings; read apart, so that no plan of a busy query has to join it.
declare
    v_limits forebay.installation;
begin
    select i.* into v_limits from forebay.installation as i;
    return v_limits;
end;
$function$;

comment on function forebay._limits is 'The one row of settings; read apart, so that no plan of a busy query has to join it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_limits.sql', 'repeatable', '26f8cac4223dcfb4aa4ebe397c8e59c6da73af30ee3859a472b6b281e8be2296', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_agent.sql
create or replace function forebay._lock_agent(p_agent text, p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the agent to admit for it: alone, by its budget row, when it has limits; beside others when there is nothing to count.
--
-- The shared lock of an agent without limits is an advisory one, since a shared row lock would write; _lock_definition
-- excludes both. Whether there are limits is read again under the lock: a first one may have come meanwhile.
--
-- Errors  55P03  somebody else holds it, and p_waits is false
declare
    v_is_limited boolean := forebay._is_limited(forebay._get_agent(p_agent));
begin
    if v_is_limited and p_waits then
        perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update;
    elsif v_is_limited then
        perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update nowait;
    elsif p_waits then
        perform pg_advisory_xact_lock_shared(forebay._agent_key(p_agent));
    elsif not pg_try_advisory_xact_lock_shared(forebay._agent_key(p_agent)) then
        raise lock_not_available using message = format('agent "%s" is being changed', p_agent);
    end if;
    if not v_is_limited and forebay._is_limited(forebay._get_agent(p_agent)) then
        perform forebay._lock_agent(p_agent, p_waits);
    end if;
end;
$function$;

comment on function forebay._lock_agent is 'Lock the agent to admit for it: alone, by its budget row, when it has limits; beside others when there is nothing to count.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_agent.sql', 'repeatable', 'bf86f2724edb31e19849f7a5b3b1a02cb6769680bb8b228d38c207231b254856', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_attempt.sql
create or replace function forebay._lock_attempt(p_attempt_id bigint)
    returns forebay.held_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock an attempt's task, then the attempt and the task's current attempt by id; return task and attempt as they are then.
--
-- Errors  22023  p_attempt_id is null
--         QF304  there is no such attempt
declare
    v_task    forebay.tasks;
    v_attempt forebay.task_attempts;
begin
    v_attempt := forebay._get_attempt(p_attempt_id);
    select t.* into v_task from forebay.tasks as t where t.task_id = v_attempt.task_id for no key update;
    perform 1 from forebay.task_attempts as a
    where a.attempt_id in (p_attempt_id, v_task.attempt_id)
    order by a.attempt_id
    for no key update;
    return (v_task, forebay._get_attempt(p_attempt_id))::forebay.held_attempt;
end;
$function$;

comment on function forebay._lock_attempt is 'Lock an attempt''s task, then the attempt and the task''s current attempt by id; return task and attempt as they are then.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_attempt.sql', 'repeatable', '7223dafda72c4c0d5c2855bc73e5d5b08bc1a2b15d59ef97bb5d48325ac8122c', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_definition.sql
create or replace function forebay._lock_definition(p_agent text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock an agent, or every one (p_agent null) by name, against admissions: it waits for those that are under way.
declare
    v_agent text;
begin
    for v_agent in
        select p_agent where p_agent is not null
        union all
        (select a.agent from forebay.agents as a where p_agent is null order by a.agent)
    loop
        perform pg_advisory_xact_lock(forebay._agent_key(v_agent));
    end loop;
    perform 1 from forebay.agent_budgets as b
    where p_agent is null or b.agent = p_agent
    order by b.agent
    for no key update;
end;
$function$;

comment on function forebay._lock_definition is 'Lock an agent, or every one (p_agent null) by name, against admissions: it waits for those that are under way.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_definition.sql', 'repeatable', 'bdce51e1f5876c48acc110fe5cac424333d934121af9121b2ad542e29e91d81f', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_tasks.sql
create or replace function forebay._lock_tasks(p_task_ids bigint[], p_attempt_ids bigint[] default '{}')
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the tasks by id, then by id their current attempts and those of p_attempt_ids.
--
-- The attempts in a statement of their own: only a snapshot taken after the tasks are held shows which are current.
begin
    perform 1 from forebay.tasks as t
    where t.task_id = any(p_task_ids)
    order by t.task_id
    for no key update;

    perform 1 from forebay.task_attempts as a
    where a.attempt_id = any(
        p_attempt_ids || array(select t.attempt_id from forebay.tasks as t where t.task_id = any(p_task_ids))
    )
    order by a.attempt_id
    for no key update;
end;
$function$;

comment on function forebay._lock_tasks is 'Lock the tasks by id, then by id their current attempts and those of p_attempt_ids.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_tasks.sql', 'repeatable', '1bb59ed43fc4a526ebc6360901fbccf3e9b9c0fe92e791a235dcbb1d2e861a71', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_match_keys.sql
create or replace function forebay._match_keys(p_rows forebay.tasks[])
    returns setof forebay.enqueued_task
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which task each row of an insertion became: itself, or the one that had its idempotency key before.
--
-- Errors  40001  the task with the key went away at this moment
--         QF201  the task with the key has another payload
declare
    v_match record;
begin
    for v_match in
        select
            r.ordinal,
            r.task_id as wanted_id,
            r.idempotency_key,
            case when r.idempotency_key is null then r.task_id else t.task_id end as task_id,
            t.payload <> r.payload as differs
        from (select n.*, row_number() over () as ordinal from unnest(p_rows) as n) as r
        left join forebay.tasks as t on t.agent = r.agent and t.idempotency_key = r.idempotency_key
        order by r.ordinal
    loop
        if v_match.task_id is null then
            raise exception 'task %: the task with key "%" went away at this moment', v_match.ordinal, v_match.idempotency_key
                using errcode = '40001', hint = 'Try again.';
        end if;
        if v_match.differs then
            raise exception 'task %: key "%" was used before with another payload, for task %',
                v_match.ordinal, v_match.idempotency_key, v_match.task_id
                using errcode = 'QF201', hint = 'Use one key for one piece of work, or leave it out.';
        end if;
        return next (v_match.ordinal::integer, v_match.task_id, v_match.task_id = v_match.wanted_id)::forebay.enqueued_task;
    end loop;
end;
$function$;

comment on function forebay._match_keys is 'Say which task each row of an insertion became: itself, or the one that had its idempotency key before.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_match_keys.sql', 'repeatable', 'c10bf1077ec8cc4237b0ac0014b744421a4ba41dcb12708e309d6e235367e8a6', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_matching_tasks.sql
create or replace function forebay._matching_tasks(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.tasks
    language sql
    stable
    security invoker
as $function$
-- The tasks that the five filters let through; a null filter lets all through. Inlined into its callers, so it pins no path.
select t.*
from forebay.tasks as t
where (p_from is null or t.created_at >= p_from)
    and (p_to is null or t.created_at < p_to)
    and (p_statuses is null or t.status = any(p_statuses))
    and (p_agents is null or t.agent = any(p_agents))
    and (p_customers is null or t.customer = any(p_customers));
$function$;

comment on function forebay._matching_tasks is 'The tasks that the five filters let through; a null filter lets all through. Inlined into its callers, so it pins no path.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_matching_tasks.sql', 'repeatable', 'b3eebffa8f759b257bfe8793811bf96d3fd1e4f23a37d4d181026835318136d3', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_may_dispatch.sql
create or replace function forebay._may_dispatch()
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether tasks may start here: in what was installed, and in a copy that an operator opened in this cluster.
begin
    return (
        select not forebay._is_copy(i) or coalesce(i.opened_in = forebay._cluster(), false)
        from forebay.installation as i
    );
end;
$function$;

comment on function forebay._may_dispatch is 'Whether tasks may start here: in what was installed, and in a copy that an operator opened in this cluster.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_may_dispatch.sql', 'repeatable', '53d8c44d0fab321981410328d384ab1eaab4e92c47813ebc8ebc79733716450a', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_may_retry.sql
create or replace function forebay._may_retry(p_agent forebay.agents, p_attempt_count integer, p_max_attempts integer)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a task that spent p_attempt_count attempts has one left; its own p_max_attempts goes before the agent's.
select p_attempt_count < coalesce(p_max_attempts, p_agent.max_attempts);
$function$;

comment on function forebay._may_retry is 'Whether a task that spent p_attempt_count attempts has one left; its own p_max_attempts goes before the agent''s.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_may_retry.sql', 'repeatable', 'ae5a265c8ac8c8a4fe5c46a0c5c40a445a3abe4d9448ec85bb5ac38fabc0333e', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_next_round.sql
create or replace function forebay._next_round(p_agents text[], p_launchers text[], p_except text[])
    returns forebay.serving_round
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agents whose turn it is: those whose best waiting priority is highest, in random order; null agents when none is left.
--
-- Returns  floor: the priority down to which they are served before others come; null when nobody else waits
declare
    v_round forebay.serving_round;
begin
    with candidates as materialized (
        select c.agent, c.priority
        from forebay._candidates(p_agents, p_launchers) as c
        where c.agent <> all(p_except)
    ), best as (
        select max(c.priority) as priority from candidates as c
    ), rest as (
        select max(c.priority) as priority from candidates as c, best where c.priority < best.priority
    )
    select
        array_agg(c.agent order by random()),
        case when count(*) > 1 then best.priority else rest.priority + 1 end,
        count(*) = 1 and rest.priority is null
    into v_round
    from candidates as c
    inner join best on best.priority = c.priority
    cross join rest
    group by best.priority, rest.priority;
    return v_round;
end;
$function$;

comment on function forebay._next_round is 'The agents whose turn it is: those whose best waiting priority is highest, in random order; null agents when none is left.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_next_round.sql', 'repeatable', '262d6c317d5c45df08a0845b96f2e615d330fe4d3ebdab5daffbace029feb89d', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_notify.sql
create or replace function forebay._notify(p_channel text, p_notified_until regclass)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Notify p_channel, unless so many others just did that it would only slow them down.
--
-- Every committing notifier takes one lock of the whole cluster, so under load most of them keep silent: the sequence holds
-- until when notifications have been spent, each costs 5 ms, and up to 20 may be spent ahead. When the rate is low nobody
-- is silenced. When it is high another notification follows within milliseconds, and listeners look once more after their
-- last wake-up. The clock here is the real one: a test's clock may stand still.
--
-- Writes  the sequence p_notified_until, which is shared and not transactional
declare
    v_now_ms bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
    v_until  bigint := coalesce(pg_sequence_last_value(p_notified_until), 0);
begin
    if v_until between v_now_ms + 100 and v_now_ms + 1000 then
        return;
    end if;
    perform setval(p_notified_until, case when v_until > v_now_ms + 1000 then v_now_ms else greatest(v_until, v_now_ms) end + 5);
    perform pg_notify(p_channel, '');
end;
$function$;

comment on function forebay._notify is 'Notify p_channel, unless so many others just did that it would only slow them down.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_notify.sql', 'repeatable', '5dc8fa1ba0122aac03a0ae92b7902a731df763d15b7d1a65ff628ab8a71b01cd', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_now.sql
create or replace function forebay._now()
    returns timestamptz
    language sql
    volatile
    security invoker
as $function$
-- The one clock: read it once into v_now, after the locks are held.
--
-- Tests install another body here; production has no switch that a caller could turn. A clock can step back, so nothing is
-- written as finished before it was started.
select clock_timestamp();
$function$;

comment on function forebay._now is 'The one clock: read it once into v_now, after the locks are held.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_now.sql', 'repeatable', 'f9db6e24961e35a4a3f1017bb5cc80ec05b0133d997195ae743bf43c33e57d30', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_open_line.sql
create or replace function forebay._open_line(p_agent text, p_waits boolean, out moved integer, out room integer)
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take the agent's lock and make its line ready: due tasks join it, and where it is full or empty, expired leases too.
--
-- The lock is a statement of its own, and everything is read and counted in later ones: a count in the locking statement
-- would see the world as it was before the lock was granted.
--
-- Returns  how many tasks were moved, and how many may be claimed now
-- Locks    the agent; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for the agent, and p_waits is false
declare
    v_agent forebay.agents;
    v_now   timestamptz;
    v_swept forebay.sweep_result;
begin
    perform forebay._lock_agent(p_agent, p_waits);
    v_agent := forebay._get_agent(p_agent);
    v_now := forebay._now();
    moved := forebay._wake_due(p_agent, v_now, 10000);
    room := forebay._room(v_agent, v_now);
    if room = 0 or (forebay._head(p_agent, v_now)).task_id is null then
        v_swept := forebay._end_expired(p_agent, 1000);
        if v_swept.requeued + v_swept.failed > 0 then
            moved := moved + v_swept.requeued + v_swept.failed;
            room := forebay._room(v_agent, forebay._now());
        end if;
    end if;
end;
$function$;

comment on function forebay._open_line is 'Take the agent''s lock and make its line ready: due tasks join it, and where it is full or empty, expired leases too.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_open_line.sql', 'repeatable', '2320f0cea391036a795c290920acde3955361c0790236fb1fea058a780a5f843', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_own_batch.sql
create or replace function forebay._own_batch(p_batch_id bigint, p_actor text)
    returns forebay.batches
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch of that id, if p_actor owns it; somebody else's answers as if it did not exist.
--
-- Errors  22023  an argument is null
--         QF302  there is none of p_actor's
declare
    v_batch forebay.batches := forebay._get_batch(p_batch_id);
    v_actor text := p_actor;
begin
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    if v_batch.owner is distinct from v_actor then
        raise exception 'batch % does not exist', p_batch_id
            using errcode = 'QF302', hint = 'forebay.open_batch opens one.';
    end if;
    return v_batch;
end;
$function$;

comment on function forebay._own_batch is 'The batch of that id, if p_actor owns it; somebody else''s answers as if it did not exist.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_own_batch.sql', 'repeatable', '1fb811bbf1cd32dde3a12a05dec0cfa6bfafd07ea42f667f984b4539833f2cf1', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_parse_task.sql
create or replace function forebay._parse_task(
    p_agent     text,
    p_document  jsonb,
    p_batch     forebay.batches,
    p_max_bytes integer,
    p_now       timestamptz
)
    returns forebay.tasks
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The row that a task's document asks for, with an id of its own; nothing is written.
--
-- Errors  22023  a key is missing, of a wrong type, or out of range
--         QF402  the payload is too large
declare
    v_task forebay.tasks;
begin
    if jsonb_typeof(p_document) <> 'object' then
        raise exception 'a task must be an object, not %', jsonb_typeof(p_document) using errcode = '22023';
    end if;
    v_task.payload := p_document -> 'payload';
    if coalesce(jsonb_typeof(v_task.payload), 'null') = 'null' then
        raise exception '"payload" is required' using errcode = '22023';
    end if;
    perform forebay._require_size(v_task.payload, 'the payload', p_max_bytes);

    v_task.task_id := nextval('forebay.tasks_task_id_seq');
    v_task.agent := p_agent;
    v_task.status := 'enqueued';
    v_task.priority := 0;
    v_task.batch_id := p_batch.batch_id;
    v_task.available_at := p_now;
    v_task.attempt_no := 0;
    v_task.attempt_count := 0;
    v_task.release_count := 0;
    v_task.created_at := p_now;
    if p_document ?| array['priority', 'estimated_tokens', 'max_attempts', 'run_after', 'customer', 'idempotency_key'] then
        v_task.priority := coalesce(forebay._json_integer(p_document, 'priority', -32768, 32767), 0)::smallint;
        v_task.estimated_tokens := forebay._json_integer(p_document, 'estimated_tokens', 0, 1000000000000);
        v_task.max_attempts := forebay._json_integer(p_document, 'max_attempts', 1, 1000)::integer;
        v_task.available_at := greatest(p_now, forebay._json_time(p_document, 'run_after'));
        v_task.customer := forebay._json_name(p_document, 'customer', 200);
        v_task.idempotency_key := forebay._json_name(p_document, 'idempotency_key', 500);
    end if;
    v_task.is_ready := v_task.available_at <= p_now;

    if p_batch.customer <> v_task.customer then
        raise exception '"customer" is "%", but the batch belongs to "%"', v_task.customer, p_batch.customer
            using errcode = '22023', hint = 'Leave it out: a batch''s tasks take its customer.';
    end if;
    v_task.customer := coalesce(p_batch.customer, v_task.customer);
    return v_task;
end;
$function$;

comment on function forebay._parse_task is 'The row that a task''s document asks for, with an id of its own; nothing is written.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_parse_task.sql', 'repeatable', 'f53a16b59df14b554e7d2efd819dda04a94ef53addd317b5defb150e78df164a', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_pause.sql
create or replace function forebay._pause(p_agent text, p_until timestamptz, p_reason text, p_actor text)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Pause an agent, or every one (p_agent null), until p_until; null resumes. Say how many changed.
--
-- Writes  forebay.agents, forebay.audit_log
-- Locks   the agents, by name: it waits for admissions that are under way
declare
    v_agent   text := p_agent;
    v_changed text[];
begin
    perform forebay._lock_definition(v_agent);

    with changed as (
        update forebay.agents as a
        set paused_until = p_until, pause_reason = case when p_until is not null then p_reason end
        where (v_agent is null or a.agent = v_agent)
            and (p_until is not null or a.paused_until is not null)
        returning a.agent
    )
    select array_agg(c.agent order by c.agent) into v_changed from changed as c;
    perform forebay._audit(
        case when p_until is null then 'resume_agent' else 'pause_agent' end, null, changed.agent, p_reason, p_actor,
        case when p_until is not null then jsonb_build_object('until', p_until) end
    )
    from unnest(v_changed) as changed (agent);
    return coalesce(cardinality(v_changed), 0);
end;
$function$;

comment on function forebay._pause is 'Pause an agent, or every one (p_agent null), until p_until; null resumes. Say how many changed.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_pause.sql', 'repeatable', '33ad7aef507540acf89e953ab0a08d8e5a0ad6ed83ddb6a2a93c6c8eea98a8e1', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_record_usage.sql
create or replace function forebay._record_usage(p_attempt_id bigint, p_usage jsonb)
    returns boolean
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record one call's usage; say whether it was new, or filled something that was unknown.
--
-- Writes  forebay.attempt_usage
-- Errors  22023  p_usage is no object, or a key is missing, of a wrong type, or out of range
declare
    v_call    forebay.attempt_usage;
    v_latency numeric;
begin
    if jsonb_typeof(p_usage) <> 'object' then
        raise exception 'a call''s usage must be an object, not %', jsonb_typeof(p_usage) using errcode = '22023';
    end if;
    v_call.call_id := forebay._json_name(p_usage, 'call_id', 500);
    v_call.source := coalesce(forebay._json_text(p_usage, 'source'), 'agent');
    v_call.model := forebay._json_name(p_usage, 'model', 500);
    v_call.input_tokens := forebay._json_integer(p_usage, 'input_tokens', 0, 1000000000000);
    v_call.output_tokens := forebay._json_integer(p_usage, 'output_tokens', 0, 1000000000000);
    v_call.cached_tokens := forebay._json_integer(p_usage, 'cached_tokens', 0, 1000000000000);
    v_call.cost_usd := forebay._json_number(p_usage, 'cost_usd');
    v_call.started_at := forebay._json_time(p_usage, 'started_at');
    v_latency := forebay._json_number(p_usage, 'latency_ms');
    v_call.trace_id := forebay._json_name(p_usage, 'trace_id', 500);
    if v_call.call_id is null then
        raise exception '"call_id" is required' using errcode = '22023';
    end if;
    if v_call.source not in ('agent', 'trace') then
        raise exception '"source" must be agent or trace, not "%"', left(v_call.source, 60) using errcode = '22023';
    end if;
    if v_call.cost_usd not between 0 and 1000000000 or v_latency not between 0 and 1000000000000 then
        raise exception '"cost_usd" must be from 0 to 10^9, and "latency_ms" from 0 to 10^12' using errcode = '22023';
    end if;
    v_call.latency_ms := round(v_latency)::bigint;
    if v_call.cached_tokens > v_call.input_tokens then
        raise exception '"cached_tokens" (%) are part of "input_tokens" (%)', v_call.cached_tokens, v_call.input_tokens
            using errcode = '22023', hint = 'Count the cached tokens into the input.';
    end if;

    insert into forebay.attempt_usage as u (
        attempt_id, source, call_id, model, input_tokens, output_tokens, cached_tokens, cost_usd, started_at, latency_ms,
        trace_id, recorded_at
    )
    values (
        p_attempt_id, v_call.source, v_call.call_id, v_call.model, v_call.input_tokens, v_call.output_tokens,
        v_call.cached_tokens, v_call.cost_usd, v_call.started_at, v_call.latency_ms, v_call.trace_id, forebay._now()
    )
    on conflict (attempt_id, source, call_id) do update set
        model = coalesce(u.model, excluded.model),
        input_tokens = coalesce(u.input_tokens, excluded.input_tokens),
        output_tokens = coalesce(u.output_tokens, excluded.output_tokens),
        cached_tokens = coalesce(u.cached_tokens, excluded.cached_tokens),
        cost_usd = coalesce(u.cost_usd, excluded.cost_usd),
        started_at = coalesce(u.started_at, excluded.started_at),
        latency_ms = coalesce(u.latency_ms, excluded.latency_ms),
        trace_id = coalesce(u.trace_id, excluded.trace_id)
    where (u.model is null and excluded.model is not null)
        or (u.input_tokens is null and excluded.input_tokens is not null)
        or (u.output_tokens is null and excluded.output_tokens is not null)
        or (u.cached_tokens is null and excluded.cached_tokens is not null)
        or (u.cost_usd is null and excluded.cost_usd is not null)
        or (u.started_at is null and excluded.started_at is not null)
        or (u.latency_ms is null and excluded.latency_ms is not null)
        or (u.trace_id is null and excluded.trace_id is not null);
    return found;
end;
$function$;

comment on function forebay._record_usage is 'Record one call''s usage; say whether it was new, or filled something that was unknown.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_record_usage.sql', 'repeatable', '28e27926b066274dcb2a65b2943f93c1fef5b8599ba31788c6db59eaa3588d8a', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_refill.sql
create or replace function forebay._refill(
    p_level      numeric,
    p_burst      numeric,
    p_per_minute numeric,
    p_since      timestamptz,
    p_until      timestamptz
)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- The level of a bucket that was at p_level at p_since and has refilled until p_until; time never runs backwards.
select least(p_burst, p_level + greatest(0, extract(epoch from p_until - p_since)) * p_per_minute / 60);
$function$;

comment on function forebay._refill is 'The level of a bucket that was at p_level at p_since and has refilled until p_until; time never runs backwards.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_refill.sql', 'repeatable', '528de7ce3a9956f4f1ec34898939a7c1a4b3823d00738acbb98feff0b0c9bff2', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_refilled_at.sql
create or replace function forebay._refilled_at(p_agent forebay.agents, p_tokens bigint, p_now timestamptz)
    returns timestamptz
    language sql
    stable
    security invoker
as $function$
-- When the agent's bucket will hold p_tokens, or be full if it cannot, in 100 years at most; p_tokens null asks for a claim.
select p_now + make_interval(secs => least(case
    when p_tokens is null then (1 - levels.requests) * 60 / p_agent.max_rpm
    else (least(p_tokens, forebay._token_burst(p_agent)) - levels.tokens) * 60 / p_agent.max_tpm
end, 3155760000)::double precision)
from forebay._levels(p_agent, p_now) as levels;
$function$;

comment on function forebay._refilled_at is 'When the agent''s bucket will hold p_tokens, or be full if it cannot, in 100 years at most; p_tokens null asks for a claim.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_refilled_at.sql', 'repeatable', '19fbdcc0cc4bb14d94ee214390ae18df46b8ed8047b5dc2215256940bcf0f7ad', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_report.sql
create or replace function forebay._report(
    p_attempt_id  bigint,
    p_is_success  boolean,
    p_result      jsonb,
    p_confidence  numeric,
    p_error       jsonb,
    p_retryable   boolean,
    p_retry_after interval
)
    returns forebay.reported_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take in how an attempt ended, current or not, first time or repeated; what follows is _report_effect's to say.
--
-- Writes  forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks   the task, then the attempt and the task's current attempt, by id
-- Errors  QF304  there is no such attempt
declare
    v_held    forebay.held_attempt;
    v_task    forebay.tasks;
    v_attempt forebay.task_attempts;
    v_agent   forebay.agents;
    v_now     timestamptz;
    v_effect  text;
    v_status  text;
begin
    v_held := forebay._lock_attempt(p_attempt_id);
    v_task := v_held.task;
    v_attempt := v_held.attempt;
    v_agent := forebay._get_agent(v_task.agent);
    v_now := forebay._now();
    v_status := v_task.status;
    v_effect := forebay._report_effect(
        p_is_success, coalesce(v_task.attempt_id = p_attempt_id, false), v_task.status, v_attempt, v_agent.late_results
    );
    if v_effect = 'kept' and (p_result is not distinct from v_attempt.result or p_result is not distinct from v_task.result)
        or v_effect = 'recorded' and v_attempt.error is not distinct from p_error then
        v_effect := 'none';
    end if;

    update forebay.task_attempts as a
    set status = case v_effect when 'completed' then 'succeeded' when 'given_back' then 'failed' else a.status end,
        finished_at = case
            when v_effect in ('completed', 'given_back') then coalesce(a.finished_at, greatest(v_now, a.started_at))
            else a.finished_at
        end,
        result = case v_effect when 'kept' then p_result else a.result end,
        confidence = case v_effect when 'kept' then p_confidence else a.confidence end,
        error = case when v_effect in ('given_back', 'recorded') then p_error else a.error end,
        reported_at = coalesce(a.reported_at, v_now),
        is_stop_pending = false
    where a.attempt_id = p_attempt_id;

    if v_effect = 'completed' then
        update forebay.task_attempts as a
        set status = 'superseded', finished_at = greatest(v_now, a.started_at),
            is_stop_pending = a.run_ended_at is null
        where a.attempt_id = v_task.attempt_id and a.attempt_id <> p_attempt_id;
        update forebay.tasks as t
        set status = 'completed', result = p_result, confidence = p_confidence, error = null,
            finished_at = greatest(v_now, t.created_at),
            attempt_id = null, locked_by = null
        where t.task_id = v_task.task_id;
        v_status := 'completed';
    elsif v_effect = 'given_back' then
        v_status := forebay._give_back(v_task, v_agent, p_error, p_retryable, p_retry_after, false);
        v_effect := case v_status when 'failed' then 'failed' else 'retrying' end;
    end if;
    perform forebay._settle(v_attempt);
    return (p_attempt_id, v_status, v_effect)::forebay.reported_attempt;
end;
$function$;

comment on function forebay._report is 'Take in how an attempt ended, current or not, first time or repeated; what follows is _report_effect''s to say.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_report.sql', 'repeatable', '166c170f7c343995a5b48814a3f9fa2fdf9b1b0cae884cd89a1a55581e331a75', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_report_effect.sql
create or replace function forebay._report_effect(
    p_is_success   boolean,
    p_is_current   boolean,
    p_task_status  text,
    p_attempt      forebay.task_attempts,
    p_late_results text
)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- What a report means: the one table of it.
--
-- Returns  completed, kept (the result goes to the attempt), given_back, recorded (the error goes to the attempt) or none
select case
    when p_is_current then case when p_is_success then 'completed' else 'given_back' end
    when p_task_status in ('completed', 'failed', 'cancelled') or p_attempt.status = 'cancelled'
        then case when p_is_success then 'kept' else 'none' end
    when p_attempt.status = 'failed' and p_attempt.reported_at is not null
        then case when p_is_success then 'completed' else 'none' end
    when not p_is_success then 'recorded'
    when p_late_results = 'accept' then 'completed'
    else 'kept'
end;
$function$;

comment on function forebay._report_effect is 'What a report means: the one table of it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_report_effect.sql', 'repeatable', 'cca44a142ef57021fdf342fdc6938e9e5fe07ce7b00f7c537051b23118e1be7d', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_report_event.sql
create or replace function forebay._report_event(p_type text, p_attempt_id bigint, p_data jsonb)
    returns forebay.reported_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Report what an event says of how its attempt ended; null for an event that only brings usage.
--
-- Errors  22023  a key is of a wrong type or out of range
--         QF402  the result or the error is too large
declare
    v_confidence  numeric;
    v_retry_after interval;
    v_max_bytes   integer := (forebay._limits()).max_result_bytes;
begin
    if p_type = 'task.completed' then
        v_confidence := forebay._json_number(p_data, 'confidence');
        if v_confidence not between 0 and 1 then
            raise exception '"confidence" must be from 0 to 1, not %', v_confidence using errcode = '22023';
        end if;
        perform forebay._require_size(p_data -> 'result', 'the result', v_max_bytes);
        return forebay._report(p_attempt_id, true, p_data -> 'result', v_confidence, null, false, null);
    elsif p_type = 'task.failed' then
        perform forebay._require_size(p_data -> 'error', 'the error', v_max_bytes);
        if forebay._json_number(p_data, 'retry_after_seconds') not between 0 and 31557600 then
            raise exception '"retry_after_seconds" must be from 0 to a year' using errcode = '22023';
        end if;
        v_retry_after := make_interval(
            secs => round(forebay._json_number(p_data, 'retry_after_seconds'), 6)::double precision
        );
        return forebay._report(
            p_attempt_id, false, null, null, forebay._error(p_data -> 'error'),
            coalesce(forebay._json_boolean(p_data, 'retryable'), true), v_retry_after
        );
    end if;
    return null;
end;
$function$;

comment on function forebay._report_event is 'Report what an event says of how its attempt ended; null for an event that only brings usage.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_report_event.sql', 'repeatable', '884f0df1889582c9f4bd7567f72d8b46fa4b27bc7dd715a680721196bcfc6b84', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_request_burst.sql
create or replace function forebay._request_burst(p_agent forebay.agents)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How many claims the agent's bucket holds when it is full: 0.8 of max_rpm and at least one; null without max_rpm.
select case when p_agent.max_rpm > 0 then greatest(1, p_agent.max_rpm * 0.8) else p_agent.max_rpm end;
$function$;

comment on function forebay._request_burst is 'How many claims the agent''s bucket holds when it is full: 0.8 of max_rpm and at least one; null without max_rpm.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_request_burst.sql', 'repeatable', '834425b19d5ad6045d10bdaf99098f63703793fe3101767d72d9b80a32b2d72a', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_agent_definition.sql
create or replace function forebay._require_agent_definition(p_agent forebay.agents)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check an agent's definition, so that a bad one is refused in a sentence before a constraint refuses it in a code.
--
-- Errors  22023  a name, word, limit, count or duration is out of its range
declare
    v_fault text;
begin
    v_fault := case
        when p_agent.agent is null or char_length(p_agent.agent) not between 1 and 200
            then 'p_agent must have 1 to 200 characters'
        when p_agent.launcher is null or p_agent.launcher not in ('pull', 'local', 'lakeflow')
            then 'p_launcher must be pull, local or lakeflow'
        when char_length(p_agent.entry_point) not between 1 and 200 then 'p_entry_point must have 1 to 200 characters'
        when p_agent.max_concurrent_tasks < 0 or p_agent.max_tpm < 0 or p_agent.max_rpm < 0
            then 'p_max_concurrent_tasks, p_max_tpm and p_max_rpm must not be negative; null means no limit'
        when p_agent.max_tpm > 1000000000000000 then 'p_max_tpm must not be above 10^15'
        when p_agent.tpm_burst is null or not (p_agent.tpm_burst > 0 and p_agent.tpm_burst <= 100)
            then 'p_tpm_burst must be above 0 and at most 100'
        when p_agent.max_attempts is null or p_agent.max_attempts not between 1 and 1000
            then 'p_max_attempts must be from 1 to 1000'
        when p_agent.max_releases is null or p_agent.max_releases < 0 then 'p_max_releases must not be negative'
        when p_agent.on_lost_lease is null or p_agent.on_lost_lease not in ('retry', 'fail')
            then 'p_on_lost_lease must be retry or fail'
        when p_agent.late_results is null or p_agent.late_results not in ('accept', 'reject')
            then 'p_late_results must be accept or reject'
        when p_agent.default_estimated_tokens is null or p_agent.default_estimated_tokens not between 0 and 1000000000000
            then 'p_default_estimated_tokens must be from 0 to 10^12'
        when p_agent.backoff_max < p_agent.backoff_base then 'p_backoff_max must not be below p_backoff_base'
        else (
            select format('%s must be above 0 and at most 10 years', durations.name)
            from (values
                ('p_lease', p_agent.lease), ('p_timeout', p_agent.timeout), ('p_backoff_base', p_agent.backoff_base),
                ('p_backoff_max', p_agent.backoff_max), ('p_retention', p_agent.retention)
            ) as durations (name, duration)
            where durations.duration is null or durations.duration not between interval '1 microsecond' and interval '10 years'
            limit 1
        )
    end;
    if v_fault is not null then
        raise exception '%', v_fault using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_agent_definition is 'Check an agent''s definition, so that a bad one is refused in a sentence before a constraint refuses it in a code.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_agent_definition.sql', 'repeatable', '0f9b9205964f5b8a568fef26501645ed268cfef1456f7017cbff26acfb88c59d', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_agents.sql
create or replace function forebay._require_agents(p_agents text[])
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every name in p_agents is an agent's; null asks for nothing.
--
-- Errors  22023  a name is null
--         QF301  there is no such agent
declare
    v_name text;
begin
    if p_agents is null then
        return;
    end if;
    foreach v_name in array p_agents loop
        if v_name is null then
            raise exception 'p_agents must not hold null' using errcode = '22023';
        end if;
        perform forebay._get_agent(v_name);
    end loop;
end;
$function$;

comment on function forebay._require_agents is 'Check that every name in p_agents is an agent''s; null asks for nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_agents.sql', 'repeatable', 'da67b2a489d1c7c28044aeb80024d325b9b6a890b67f3ab5f2baca6f016ca8b8', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_between.sql
create or replace function forebay._require_between(p_value bigint, p_name text, p_from bigint, p_to bigint)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that an argument lies between p_from and p_to; null does not.
--
-- Errors  22023  it does not
begin
    if p_value is null or p_value not between p_from and p_to then
        raise exception '% must be from % to %, not %', p_name, p_from, p_to, coalesce(p_value::text, 'null')
            using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_between is 'Check that an argument lies between p_from and p_to; null does not.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_between.sql', 'repeatable', '481a44ff3094737bef1a34c1f22851a6eb3804d529b54687da24ce8c5fa2ed8e', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_delay.sql
create or replace function forebay._require_delay(p_delay interval, p_name text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a delay, if given, lies between nothing and a year.
--
-- Errors  22023  it does not
begin
    if p_delay < interval '0' or p_delay > interval '1 year' then
        raise exception '% must be from 0 to 1 year, not %', p_name, p_delay using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_delay is 'Check that a delay, if given, lies between nothing and a year.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_delay.sql', 'repeatable', 'cb60385fa2150164531be20ddb91b72d9335bd2a10a17b4ffadb30722c809f6b', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_ids.sql
create or replace function forebay._require_ids(p_ids bigint[], p_name text)
    returns bigint[]
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The distinct ids of p_ids, in order, without nulls.
--
-- Errors  22023  the array itself is null
begin
    if p_ids is null then
        raise exception '% must not be null', p_name using errcode = '22023';
    end if;
    return array(select distinct ids.id from unnest(p_ids) as ids (id) where ids.id is not null order by ids.id);
end;
$function$;

comment on function forebay._require_ids is 'The distinct ids of p_ids, in order, without nulls.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_ids.sql', 'repeatable', 'fc6a992477719a7572b769f9aad019867dd8e364fa4fb12b7f5d685d6f305a01', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_launchers.sql
create or replace function forebay._require_launchers(p_launchers text[])
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every word in p_launchers is a launcher; null asks for nothing.
--
-- Errors  22023  one is not
begin
    if not p_launchers <@ array['pull', 'local', 'lakeflow'] then
        raise exception 'p_launchers may hold pull, local and lakeflow, not %', left(p_launchers::text, 100)
            using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_launchers is 'Check that every word in p_launchers is a launcher; null asks for nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_launchers.sql', 'repeatable', '79301b1cdf251d3b587f91f7430fa375572b46894863176e72cf67faa2d17a86', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_open.sql
create or replace function forebay._require_open()
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse to go on in a branch or a restored copy that no operator has opened.
--
-- Errors  QF401  this database is a copy and may not dispatch
begin
    if not forebay._may_dispatch() then
        raise exception 'this database is a branch or a restored copy and does not dispatch'
            using errcode = 'QF401',
                detail = 'Its tasks belong to the database it was copied from.',
                hint = 'An operator opens it with forebay.open_installation(p_reason => ''...'').';
    end if;
end;
$function$;

comment on function forebay._require_open is 'Refuse to go on in a branch or a restored copy that no operator has opened.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_open.sql', 'repeatable', '6bfd3f9411590ebbe2f788168b8619eb279916c8c063a5110ac472447cc7004a', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_size.sql
create or replace function forebay._require_size(p_document jsonb, p_name text, p_max_bytes integer)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a document, written as text, is no longer than p_max_bytes.
--
-- Errors  QF402  it is
begin
    if octet_length(p_document::text) > p_max_bytes then
        raise exception '% has % bytes, more than the % that are allowed',
            p_name, octet_length(p_document::text), p_max_bytes
            using errcode = 'QF402', hint = 'Keep the content in a file and let the document point to it.';
    end if;
end;
$function$;

comment on function forebay._require_size is 'Check that a document, written as text, is no longer than p_max_bytes.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_size.sql', 'repeatable', '028dc0b1f7148494435d482d8c2cc6a58cd1e092790a24e72bf02f83b2f5fc90', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_statuses.sql
create or replace function forebay._require_statuses(p_statuses text[])
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that p_statuses, if given, holds statuses.
--
-- Errors  22023  a word is no status
declare
    v_word text;
begin
    select words.word into v_word
    from unnest(p_statuses) as words (word)
    where words.word is null or words.word not in ('enqueued', 'processing', 'completed', 'failed', 'cancelled')
    limit 1;
    if found then
        raise exception 'no status is called "%"', v_word
            using errcode = '22023', hint = 'Statuses: enqueued, processing, completed, failed, cancelled.';
    end if;
end;
$function$;

comment on function forebay._require_statuses is 'Check that p_statuses, if given, holds statuses.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_statuses.sql', 'repeatable', 'f544d1fe66cce0f9846681661ce65e83ce05a4846932a9225fdab714ee731c89', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_worker.sql
create or replace function forebay._require_worker(p_worker text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that p_worker can name a process.
--
-- Errors  22023  it is null, empty, or longer than 200 characters
begin
    if p_worker is null or p_worker = '' or char_length(p_worker) > 200 then
        raise exception 'p_worker must be a name of 1 to 200 characters'
            using errcode = '22023', hint = 'Use one that is unique to the process, such as host:pid:random.';
    end if;
end;
$function$;

comment on function forebay._require_worker is 'Check that p_worker can name a process.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_worker.sql', 'repeatable', 'ec22cb05a259e9571582eb247529e8e1b747afe8e232e6b1b8312657984de46a', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_result_fault.sql
create or replace function forebay._result_fault(p_result jsonb, p_confidence numeric)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What is wrong with a result, in words; null when nothing is.
begin
    return (
        select case
            when octet_length(p_result::text) > i.max_result_bytes
                then format('the result has %s bytes, more than the %s that are allowed', octet_length(p_result::text), i.max_result_bytes)
            when p_confidence not between 0 and 1
                then format('the confidence must be from 0 to 1, not %s', p_confidence)
        end
        from forebay.installation as i
    );
end;
$function$;

comment on function forebay._result_fault is 'What is wrong with a result, in words; null when nothing is.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_result_fault.sql', 'repeatable', '735a89744a3ddf4158111f47564dc8f1b9f8124e1e307a8c80ebb17420fc50a2', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_retry.sql
create or replace function forebay._retry(p_task_ids bigint[], p_priority integer, p_reason text, p_actor text)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed and cancelled tasks back in line. Their attempts start afresh, their history stays.
--
-- Returns  one row a distinct id, by id; effect is retried, none (nothing to retry) or unknown
-- Writes   forebay.tasks, forebay.audit_log
-- Locks    the tasks, by id
-- Errors   22023  p_task_ids is null, or p_priority is no smallint
declare
    v_ids     bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_retried bigint[];
    v_now     timestamptz;
begin
    if p_priority is not null then
        perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    end if;
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    with retried as (
        update forebay.tasks as t
        set status = 'enqueued', priority = coalesce(p_priority, t.priority), finished_at = null, error = null,
            attempt_count = 0, release_count = 0, available_at = v_now, is_ready = true
        where t.task_id = any(v_ids) and t.status in ('failed', 'cancelled')
        returning t.task_id
    )
    select coalesce(array_agg(r.task_id), '{}') into v_retried from retried as r;
    perform forebay._audit('retry', v_retried, null, p_reason, p_actor);

    return query select * from forebay._effects(v_ids, v_retried, 'retried');
end;
$function$;

comment on function forebay._retry is 'Put failed and cancelled tasks back in line. Their attempts start afresh, their history stays.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_retry.sql', 'repeatable', 'f03c9ca8fdbf9fb3827f3eda0e14b588d9f92a609f975ffaa604da3d5d993cdb', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_room.sql
create or replace function forebay._room(p_agent forebay.agents, p_now timestamptz)
    returns integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many more tasks the agent may have processing: by concurrency, and by claims a minute.
--
-- A limit of 0 admits nothing, max_tpm's included.
declare
    v_slots    bigint;
    v_requests numeric;
begin
    if p_agent.max_tpm = 0 or p_agent.max_rpm = 0 or p_agent.max_concurrent_tasks = 0 then
        return 0;
    end if;
    if p_agent.max_concurrent_tasks is not null then
        v_slots := p_agent.max_concurrent_tasks - forebay._in_use(p_agent.agent, p_agent.max_concurrent_tasks);
    end if;
    if p_agent.max_rpm is not null then
        v_requests := floor((forebay._levels(p_agent, p_now)).requests);
    end if;
    return greatest(0, least(v_slots, v_requests, 2147483647))::integer;
end;
$function$;

comment on function forebay._room is 'How many more tasks the agent may have processing: by concurrency, and by claims a minute.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_room.sql', 'repeatable', '2a31a9f137915cb6cf248047efb75313b6eff7a51af733216052834427f4b782', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_run_outcome.sql
create or replace function forebay._run_outcome(p_launcher text, p_run jsonb)
    returns forebay.run_outcomes
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The row of run_outcomes that fits a run best: the fewest * wins; a state that no row names renews.
--
-- Errors  22023  a key of p_run is of a wrong type
declare
    v_outcome forebay.run_outcomes;
    v_life    text := forebay._json_text(p_run, 'life_cycle_state');
    v_result  text := coalesce(forebay._json_text(p_run, 'result_state'), '*');
    v_code    text := coalesce(forebay._json_text(p_run, 'termination_code'), '*');
begin
    select o.* into v_outcome
    from forebay.run_outcomes as o
    where o.launcher = p_launcher and o.life_cycle_state = v_life
        and o.result_state in (v_result, '*') and o.termination_code in (v_code, '*')
    order by (o.result_state = '*')::integer + (o.termination_code = '*')::integer, o.termination_code = '*'
    limit 1;
    if not found then
        v_outcome.outcome := 'renew';
        v_outcome.is_ended := false;
        v_outcome.may_report_yet := false;
    end if;
    return v_outcome;
end;
$function$;

comment on function forebay._run_outcome is 'The row of run_outcomes that fits a run best: the fewest * wins; a state that no row names renews.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_run_outcome.sql', 'repeatable', '79d6d17f61facbb23fbaec4fb5baeba17ce0b756ab45e298a08218d965a6a7cc', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_run_words.sql
create or replace function forebay._run_words(p_run jsonb)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What the launcher saw of a run, in words.
select
    'run seen ' || concat_ws(', ', p_run ->> 'life_cycle_state', p_run ->> 'result_state', p_run ->> 'termination_code')
    || coalesce(': ' || left(p_run ->> 'message', 500), '');
$function$;

comment on function forebay._run_words is 'What the launcher saw of a run, in words.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_run_words.sql', 'repeatable', '59e56519f3b5b917db7da39a8229b2625aea28d1644b39bafd4c0df3917cef90', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_seen.sql
create or replace function forebay._seen(p_worker text, p_did text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note for health() that p_worker has just claimed or swept; at most once in five seconds, and never waiting.
--
-- Writes  forebay.dispatchers, under a try-lock of its own, so that callers with one name do not queue up
declare
    v_now timestamptz := forebay._now();
begin
    perform 1 from forebay.dispatchers as d
    where d.worker = p_worker
        and case p_did when 'claim' then d.last_claim_at else d.last_sweep_at end > v_now - interval '5 seconds';
    if found or not pg_try_advisory_xact_lock(hashtextextended('forebay.dispatcher ' || p_worker, 0)) then
        return;
    end if;

    insert into forebay.dispatchers as d (worker, first_seen_at, last_claim_at, last_sweep_at)
    values (p_worker, v_now, case p_did when 'claim' then v_now end, case p_did when 'sweep' then v_now end)
    on conflict (worker) do update set
        last_claim_at = coalesce(excluded.last_claim_at, d.last_claim_at),
        last_sweep_at = coalesce(excluded.last_sweep_at, d.last_sweep_at);
end;
$function$;

comment on function forebay._seen is 'Note for health() that p_worker has just claimed or swept; at most once in five seconds, and never waiting.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_seen.sql', 'repeatable', '2add6c3f77f4884d21fd0852188ba48bc02172fba510a4848c49e6ae8c0b4217', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_set_budget.sql
create or replace function forebay._set_budget(p_old forebay.agents, p_new forebay.agents, p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give an agent the buckets of its new definition: a level is kept, cut to the new burst; a first limit starts full.
--
-- Writes  forebay.agent_budgets, forebay.agent_settlements
declare
    v_levels record;
begin
    select l.* into v_levels from forebay._levels(p_old, p_now) as l;
    insert into forebay.agent_budgets as b (agent, tokens, requests, refilled_at, limited_since)
    values (
        p_new.agent,
        case when p_new.max_tpm is not null then least(v_levels.tokens, forebay._token_burst(p_new)) end,
        case when p_new.max_rpm is not null then least(v_levels.requests, forebay._request_burst(p_new)) end,
        p_now,
        case when p_new.max_tpm is not null then p_now end
    )
    on conflict (agent) do update set
        tokens = excluded.tokens, requests = excluded.requests, refilled_at = excluded.refilled_at,
        limited_since = case
            when v_levels.tokens is null or p_new.max_tpm is null then excluded.limited_since
            else b.limited_since
        end;
    delete from forebay.agent_settlements as s
    where s.agent = p_new.agent and (p_new.max_tpm is null or s.settlement_id = any(v_levels.folded));
end;
$function$;

comment on function forebay._set_budget is 'Give an agent the buckets of its new definition: a level is kept, cut to the new burst; a first limit starts full.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_set_budget.sql', 'repeatable', '7a747f18bfedb79091f2ca55993e93161bea9733585e24c9c68b94c9ce088da4', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_settle.sql
create or replace function forebay._settle(p_attempt forebay.task_attempts, p_is_release boolean default false)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.
--
-- Unknown usage keeps the charge, unless more than the charge is known already. A release that reported nothing used nothing.
--
-- Writes  forebay.agent_settlements, forebay.task_attempts.charged_tokens
declare
    v_usage  record;
    v_actual bigint;
begin
    if p_attempt.charged_tokens is null then
        return;
    end if;
    select u.tokens, u.is_complete into v_usage from forebay._usage_tokens(p_attempt.attempt_id) as u;
    v_actual := case
        when v_usage.is_complete then v_usage.tokens
        when v_usage.is_complete is null and p_is_release then 0
        else greatest(p_attempt.charged_tokens, v_usage.tokens)
    end;
    if v_actual is distinct from p_attempt.charged_tokens then
        insert into forebay.agent_settlements (agent, tokens, settled_at)
        select p_attempt.agent, p_attempt.charged_tokens - v_actual, forebay._now()
        from forebay.agent_budgets as b
        where b.agent = p_attempt.agent and b.limited_since <= p_attempt.started_at;
        update forebay.task_attempts as a set charged_tokens = v_actual where a.attempt_id = p_attempt.attempt_id;
    end if;
end;
$function$;

comment on function forebay._settle is 'Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_settle.sql', 'repeatable', 'fa52da2867aa0ba14a52a3e4430f756ed0f5b0e5d13c0a268fa1cae9e8f11520', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_token_burst.sql
create or replace function forebay._token_burst(p_agent forebay.agents)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How many tokens the agent's bucket holds when it is full; null when the agent has no max_tpm.
select p_agent.max_tpm * p_agent.tpm_burst;
$function$;

comment on function forebay._token_burst is 'How many tokens the agent''s bucket holds when it is full; null when the agent has no max_tpm.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_token_burst.sql', 'repeatable', 'c8d15de5e741c26a04f5f847025cc2146e06a6128188567f8421138cd36aa5aa', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_usage_tokens.sql
create or replace function forebay._usage_tokens(
    p_attempt_id     bigint,
    out tokens       bigint,
    out is_complete  boolean
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tokens of an attempt's calls, from the more complete source; no row when none was reported.
--
-- Returns  tokens: input and output of the calls where both are known, and what is known of the others
begin
    select
        (sum(coalesce(u.input_tokens, 0) + coalesce(u.output_tokens, 0)))::bigint,
        bool_and(u.input_tokens is not null and u.output_tokens is not null)
    into tokens, is_complete
    from forebay.attempt_usage as u
    where u.attempt_id = p_attempt_id
    group by u.source
    order by count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc, u.source
    limit 1;
end;
$function$;

comment on function forebay._usage_tokens is 'The tokens of an attempt''s calls, from the more complete source; no row when none was reported.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_usage_tokens.sql', 'repeatable', 'f512691da012fcfd4ef79f53fb69e118cc745debc42fc12872323e2e50e3bc39', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_waiting_words.sql
create or replace function forebay._waiting_words(
    p_answer forebay.task_explanation,
    p_agent  forebay.agents,
    p_task   forebay.tasks
)
    returns text
    language sql
    stable
    security invoker
as $function$
-- The sentence for a reason to wait.
select case p_answer.reason
    when 'not_open' then 'This database is a branch or a restored copy, and no operator has opened it.'
    when 'paused' then format(
        'Agent %s is paused%s%s.', p_agent.agent, coalesce(' until ' || p_answer.waiting_until, ', until it is resumed'),
        coalesce(': ' || p_agent.pause_reason, '')
    )
    when 'delayed' then format(
        'It is not due before %s%s.', p_task.available_at,
        coalesce(': its last attempt ended with "' || (
            select a.error ->> 'message' from forebay.task_attempts as a
            where a.task_id = p_task.task_id and a.attempt_no = p_task.attempt_no
        ) || '"', '')
    )
    when 'closed' then format('A limit of agent %s is 0, which admits nothing.', p_agent.agent)
    when 'full' then format(
        'Agent %s runs as many tasks as it may (%s); %s wait(s) before this one.',
        p_agent.agent, p_agent.max_concurrent_tasks, p_answer.ahead
    )
    when 'out_of_requests' then format(
        'Agent %s has started as many tasks as it may in a minute (%s); the next can start at %s, and %s wait(s) before this one.',
        p_agent.agent, p_agent.max_rpm, p_answer.waiting_until, p_answer.ahead
    )
    when 'out_of_tokens' then format(
        'Agent %s has used its tokens (%s a minute); the next task can start at %s, and %s wait(s) before this one.',
        p_agent.agent, p_agent.max_tpm, p_answer.waiting_until, p_answer.ahead
    )
    when 'behind_others' then format('%s task(s) of agent %s come(s) before it.', p_answer.ahead, p_agent.agent)
    else 'It is next in line: the next dequeue for its agent takes it'
        || coalesce('; the last one was at ' || (select max(d.last_claim_at) from forebay.dispatchers as d), '; none was seen yet')
        || '.'
end;
$function$;

comment on function forebay._waiting_words is 'The sentence for a reason to wait.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_waiting_words.sql', 'repeatable', 'c5c9b9a73ce95035dc9c91e1d4ee16a197fe2841561d4407e120200068794011', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_wake_due.sql
create or replace function forebay._wake_due(p_agent text, p_now timestamptz, p_limit integer)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put the agent's due tasks into the line of those that can be claimed; say how many.
--
-- Writes  forebay.tasks.is_ready
-- Locks   the tasks, by id, skipping what somebody else holds
declare
    v_woken integer;
begin
    with due as (
        select t.task_id
        from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
        order by t.available_at
        limit p_limit
    ), locked as (
        select t.task_id
        from forebay.tasks as t
        inner join due on due.task_id = t.task_id
        where t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
        order by t.task_id
        for no key update of t skip locked
    )
    update forebay.tasks as t
    set is_ready = true
    from locked
    where t.task_id = locked.task_id;
    get diagnostics v_woken = row_count;
    return v_woken;
end;
$function$;

comment on function forebay._wake_due is 'Put the agent''s due tasks into the line of those that can be claimed; say how many.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_wake_due.sql', 'repeatable', 'd9690394da5ae40c7b0de0a1e34c2bb6c53bab9b9788e727e6d41f7eea252dd3', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/batch_tasks.sql
create or replace function forebay.batch_tasks(p_batch_id bigint, p_actor text)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the tasks of p_actor's batch, without their results.
--
-- Returns    one row a task, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query
    select
        t.task_id, t.agent, t.status, t.priority::integer, t.payload, t.attempt_count, a.progress_done, a.progress_total,
        t.confidence, t.error, t.created_at, t.finished_at
    from forebay.tasks as t
    left join forebay.task_attempts as a on a.attempt_id = t.attempt_id
    where t.batch_id = p_batch_id
    order by t.task_id;
end;
$function$;

comment on function forebay.batch_tasks is 'List the tasks of p_actor''s batch, without their results.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/batch_tasks.sql', 'repeatable', '67089590108e01ce781eb5381e94e3dfc49245a43a9a4b27475bc9e92c0bd7c2', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/cancel_batch.sql
create or replace function forebay.cancel_batch(p_batch_id bigint, p_actor text, p_reason text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel what is left of p_actor's batch, as cancel does for single tasks.
--
-- Returns    one row a task of the batch, by id
-- Writes     forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._cancel(
        array(select t.task_id from forebay.tasks as t where t.batch_id = p_batch_id), p_reason, p_actor
    );
end;
$function$;

comment on function forebay.cancel_batch is 'Cancel what is left of p_actor''s batch, as cancel does for single tasks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/cancel_batch.sql', 'repeatable', '9403965db9336cfc3ce7878a1251024cd4ece3b20e8ca55f857a110b4f9eeab2', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/enqueue.sql
create or replace function forebay.enqueue(
    p_agent            text,
    p_payload          jsonb,
    p_priority         integer default 0,
    p_batch_id         bigint default null,
    p_customer         text default null,
    p_idempotency_key  text default null,
    p_run_after        timestamptz default null,
    p_estimated_tokens bigint default null,
    p_max_attempts     integer default null
)
    returns bigint
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
-- Enqueue one task and return its id, as enqueue_many does for many.
--
-- Errors     as enqueue_many
-- Called by  forebay_submitter
begin
    return (
        select e.task_id
        from forebay.enqueue_many(
            p_agent,
            jsonb_build_array(jsonb_build_object(
                'payload', p_payload,
                'priority', p_priority,
                'customer', p_customer,
                'idempotency_key', p_idempotency_key,
                'run_after', p_run_after,
                'estimated_tokens', p_estimated_tokens,
                'max_attempts', p_max_attempts
            )),
            p_batch_id
        ) as e
    );
end;
$function$;

comment on function forebay.enqueue is 'Enqueue one task and return its id, as enqueue_many does for many.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/enqueue.sql', 'repeatable', 'fc5460563e221c5463b40f99b1799ef202fc17d1fcbc670816f8ff84b7efac2c', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/enqueue_many.sql
create or replace function forebay.enqueue_many(p_agent text, p_tasks jsonb, p_batch_id bigint default null)
    returns setof forebay.enqueued_task
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
-- Enqueue tasks for one agent, all or none of them.
--
-- A task is an object: payload (required), priority, customer, idempotency_key, run_after, estimated_tokens,
-- max_attempts; other keys are ignored. A key that the agent already has answers with the first task and created = false;
-- only the payload is compared. run_after is an instant: a caller whose clock is wrong gets what it asked for.
--
-- Returns    one row a task, by ordinal from 1, in the order given
-- Writes     forebay.tasks
-- Locks      idempotency keys, in the order of the keys
-- Errors     22023  p_tasks is no array, too long, or has a bad task, which is named by its ordinal
--            40001  a task with the same key went away at this moment
--            QF201  a key was used before with another payload
--            QF301, QF302  no such agent or batch
--            QF402  a payload is too large
-- Called by  forebay_submitter
declare
    v_batch    forebay.batches;
    v_rows     forebay.tasks[] := array[]::forebay.tasks[];
    v_document jsonb;
    v_ordinal  integer := 0;
    v_has_keys boolean := false;
    v_limits   forebay.installation := forebay._limits();
    v_now      timestamptz := forebay._now();
    v_message  text;
    v_state    text;
    v_hint     text;
begin
    perform forebay._get_agent(p_agent);
    if p_tasks is null or jsonb_typeof(p_tasks) <> 'array' then
        raise exception 'p_tasks must be a JSON array' using errcode = '22023';
    end if;
    perform forebay._require_between(jsonb_array_length(p_tasks), 'the number of tasks', 0, v_limits.max_batch_size);
    if p_batch_id is not null then
        v_batch := forebay._get_batch(p_batch_id);
    end if;

    begin
        for v_document in select elements.value from jsonb_array_elements(p_tasks) as elements loop
            v_ordinal := v_ordinal + 1;
            v_rows := v_rows || forebay._parse_task(p_agent, v_document, v_batch, v_limits.max_payload_bytes, v_now);
            v_has_keys := v_has_keys or v_rows[v_ordinal].idempotency_key is not null;
        end loop;
    exception when data_exception or sqlstate 'QF402' then
        get stacked diagnostics v_message = message_text, v_state = returned_sqlstate, v_hint = pg_exception_hint;
        raise exception 'task %: %', v_ordinal, v_message using errcode = v_state, hint = concat_ws(' ', nullif(v_hint, ''), 'Nothing was enqueued.');
    end;

    insert into forebay.tasks
    select r.* from unnest(v_rows) as r
    order by r.idempotency_key collate "C" nulls first, r.task_id
    on conflict (agent, idempotency_key) where idempotency_key is not null do nothing;

    if v_has_keys then
        return query select * from forebay._match_keys(v_rows);
    else
        return query select (row_number() over ())::integer, r.task_id, true from unnest(v_rows) as r;
    end if;
end;
$function$;

comment on function forebay.enqueue_many is 'Enqueue tasks for one agent, all or none of them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/enqueue_many.sql', 'repeatable', '63f07260bbf06675339c8caadfd314870d9c277a335329e32efd9a2514276eca', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/open_batch.sql
create or replace function forebay.open_batch(
    p_name     text,
    p_customer text default null,
    p_owner    text default null,
    p_metadata jsonb default '{}'
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Open a batch, the parent of many tasks, and return its id; its tasks take its customer and owner.
--
-- Writes     forebay.batches
-- Errors     22023  a name, customer or owner is empty or too long, or p_metadata is no object
--            QF402  p_metadata is too large
-- Called by  forebay_submitter
declare
    v_batch_id bigint;
begin
    if p_name is null or char_length(p_name) not between 1 and 500 then
        raise exception 'p_name must have 1 to 500 characters' using errcode = '22023';
    end if;
    if char_length(p_customer) not between 1 and 200 or char_length(p_owner) not between 1 and 200 then
        raise exception 'p_customer and p_owner must have 1 to 200 characters, or be null' using errcode = '22023';
    end if;
    if p_metadata is null or jsonb_typeof(p_metadata) <> 'object' then
        raise exception 'p_metadata must be a JSON object' using errcode = '22023';
    end if;
    perform forebay._require_size(p_metadata, 'p_metadata', (forebay._limits()).max_payload_bytes);

    insert into forebay.batches (name, customer, owner, metadata, created_at)
    values (p_name, p_customer, p_owner, p_metadata, forebay._now())
    returning batch_id into v_batch_id;
    return v_batch_id;
end;
$function$;

comment on function forebay.open_batch is 'Open a batch, the parent of many tasks, and return its id; its tasks take its customer and owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/open_batch.sql', 'repeatable', 'c1d8a74a829f3d5e2d66404e1aee51d33320e9585e08bcb99bd3c1e070bd38d8', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/retry_batch.sql
create or replace function forebay.retry_batch(p_batch_id bigint, p_actor text, p_reason text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put the failed and cancelled tasks of p_actor's batch back in line, as retry does for single tasks.
--
-- Returns    one row a task of the batch, by id
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._retry(
        array(select t.task_id from forebay.tasks as t where t.batch_id = p_batch_id), null, p_reason, p_actor
    );
end;
$function$;

comment on function forebay.retry_batch is 'Put the failed and cancelled tasks of p_actor''s batch back in line, as retry does for single tasks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/retry_batch.sql', 'repeatable', '5547e1cc0780eb9f97d2fe28ed885bdc95f834919e53b4f016a4a0bf39829204', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/adopt.sql
create or replace function forebay.adopt(p_worker text, p_launchers text[], p_limit integer default 100)
    returns setof forebay.adopted_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take over attempts whose driver let the lease run out while their run may live on outside of it.
--
-- Attempt and launch token stay. Without a run id: launch again with the same token, and get the same run. With one: ask
-- its state and pass it to observe_run.
--
-- Returns    one row an attempt, by id; of more than p_limit those that expired first
-- Writes     forebay.task_attempts.worker, lease_expires_at; forebay.tasks.locked_by
-- Locks      the tasks, then their attempts, skipping what somebody else holds
-- Errors     22023  p_worker, p_launchers or p_limit is wrong
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_launchers text[] := p_launchers;
    v_tasks     bigint[];
    v_attempts  bigint[];
    v_now       timestamptz;
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if p_launchers is null then
        raise exception 'p_launchers must not be null' using errcode = '22023';
    end if;
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();
    v_now := forebay._now();

    select array_agg(locked.task_id) into v_tasks from (
        select t.task_id
        from forebay.tasks as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id and a.attempt_id = t.attempt_id
        where a.finished_at is null and a.launcher = any(v_launchers) and forebay._is_external(a.launcher)
            and a.lease_expires_at <= v_now and a.deadline_at > v_now
        order by a.lease_expires_at, t.task_id
        limit p_limit
        for no key update of t skip locked
    ) as locked;
    select array_agg(locked.attempt_id) into v_attempts from (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_tasks))
            and a.finished_at is null and a.lease_expires_at <= v_now and a.deadline_at > v_now
        order by a.attempt_id
        for no key update skip locked
    ) as locked;

    return query
    with adopted as (
        update forebay.task_attempts as a
        set worker = p_worker, lease_expires_at = least(v_now + g.lease, a.deadline_at)
        from forebay.agents as g
        where a.attempt_id = any(v_attempts) and g.agent = a.agent
        returning a.*, g.job_id, g.entry_point
    ), marked as (
        update forebay.tasks as t set locked_by = p_worker
        from adopted as a
        where t.task_id = a.task_id
        returning t.*
    )
    select
        a.task_id, a.attempt_id, a.attempt_no, a.agent, a.launcher, a.job_id, a.entry_point, t.payload,
        t.priority::integer, t.batch_id, t.customer, a.estimated_tokens, a.launch_token, a.lease_expires_at, a.deadline_at,
        a.run_id
    from adopted as a
    inner join marked as t on t.attempt_id = a.attempt_id
    order by a.attempt_id;
end;
$function$;

comment on function forebay.adopt is 'Take over attempts whose driver let the lease run out while their run may live on outside of it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/adopt.sql', 'repeatable', '4020a054c4bb3024fe404786a7b45c30072cec8cbc0bddde3ee663a371912409', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/dequeue.sql
create or replace function forebay.dequeue(
    p_worker     text,
    p_agents     text[] default null,
    p_batch_size integer default 1,
    p_launchers  text[] default null
)
    returns setof forebay.claimed_attempt
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
-- Claim up to p_batch_size tasks for p_worker: each becomes an attempt with a lease.
--
-- Agents that have room are served in the order of their best waiting priority; equals share the batch, the first of them
-- is random. An agent that another call is admitting for is skipped, and waited for only when nothing else was claimed. A
-- lock that led to nothing is given back at once, by rolling its subtransaction back. The parameters are copied: a copy
-- compares by the default collation, a parameter by whatever the caller's argument had, past the indexes.
-- Call it in a transaction of its own: the agents it claimed for stay locked until commit. Without p_agents and
-- p_launchers it serves the agents of launcher pull.
--
-- Returns    one row an attempt; none when nothing could start at this moment
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_budgets, forebay.agent_settlements, forebay.dispatchers
-- Locks      one agent's budget row after the other without waiting, then tasks and attempts without waiting
-- Errors     22023  p_worker, p_agents, p_batch_size or p_launchers is wrong
--            25001  the transaction is not READ COMMITTED
--            QF301  no such agent
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_worker    text := p_worker;
    v_agents    text[] := p_agents;
    v_launchers text[] := p_launchers;
    v_left      integer := p_batch_size;
    v_busy      text[] := array[]::text[];
    v_idle      text[] := array[]::text[];
    v_round     forebay.serving_round;
    v_waits     boolean;
    v_agent     text;
    v_moved     integer;
    v_room      integer;
    v_got       integer;
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_batch_size, 'p_batch_size', 1, 10000);
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'dequeue must run at READ COMMITTED, not %', upper(current_setting('transaction_isolation'))
            using errcode = '25001', hint = 'Call it in a transaction of its own, at the default isolation level.';
    end if;
    perform forebay._require_agents(v_agents);
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();
    perform forebay._seen(v_worker, 'claim');

    while v_left > 0 loop
        v_round := forebay._next_round(v_agents, v_launchers, v_busy || v_idle);
        v_waits := v_left = p_batch_size and v_busy = '{}' and v_round.is_only;
        if v_round.agents is null then
            exit when v_left < p_batch_size or v_busy = '{}';
            v_round.agents := v_busy[1:1];
            v_waits := true;
            v_busy := '{}';
        end if;
        for v_at in 1 .. cardinality(v_round.agents) loop
            v_agent := v_round.agents[v_at];
            v_got := 0;
            begin
                select l.moved, l.room into v_moved, v_room from forebay._open_line(v_agent, v_waits) as l;
                return query select * from forebay._claim(
                    v_worker, v_agent,
                    least(v_room, ceil(v_left::numeric / (cardinality(v_round.agents) - v_at + 1))::integer), v_round.floor
                );
                get diagnostics v_got = row_count;
                if v_got = 0 then
                    v_idle := v_idle || v_agent;
                    if v_moved = 0 then
                        raise exception 'nothing to claim for %', v_agent using errcode = 'QF902';
                    end if;
                end if;
            exception
                when lock_not_available then
                    if v_waits then
                        raise;
                    end if;
                    v_busy := v_busy || v_agent;
                when sqlstate 'QF902' then null;
            end;
            v_left := v_left - v_got;
            exit when v_left = 0;
        end loop;
    end loop;
end;
$function$;

comment on function forebay.dequeue is 'Claim up to p_batch_size tasks for p_worker: each becomes an attempt with a lease.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/dequeue.sql', 'repeatable', '4c265ceeaa42da0ed0bde8052df238a3586084e7514e3db9d2725751e878da92', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/observe_run.sql
create or replace function forebay.observe_run(p_attempt_id bigint, p_run jsonb)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take in what the launcher saw of an attempt's run, and let the table run_outcomes say what follows.
--
-- p_run is an object with life_cycle_state (required), result_state, termination_code and message. An unknown state
-- renews, until the attempt's deadline. A run that ended waits the report grace for its report, counted from when it was
-- first seen ended.
--
-- Returns    renew, requeue, retry, fail or pause_agent: what was done; none when the attempt had ended before
-- Writes     forebay.task_attempts, forebay.tasks, forebay.agents
-- Locks      the agent's budget row if it may be paused, the task, then the attempt
-- Errors     22023  p_run is no object, or a key is of a wrong type
--            QF304  there is no such attempt
--            QF402  p_run is too large
-- Called by  forebay_worker
declare
    v_attempt forebay.task_attempts;
    v_outcome forebay.run_outcomes;
    v_held    forebay.held_attempt;
    v_agent   forebay.agents;
    v_limits  forebay.installation := forebay._limits();
    v_now     timestamptz;
begin
    if p_run is null or jsonb_typeof(p_run) <> 'object' then
        raise exception 'p_run must be a JSON object' using errcode = '22023';
    end if;
    perform forebay._require_size(p_run, 'p_run', v_limits.max_result_bytes);
    if forebay._json_text(p_run, 'life_cycle_state') is null then
        raise exception '"life_cycle_state" is required' using errcode = '22023';
    end if;
    v_attempt := forebay._get_attempt(p_attempt_id);
    v_outcome := forebay._run_outcome(v_attempt.launcher, p_run);
    if v_outcome.outcome = 'pause_agent' then
        perform forebay._pause(v_attempt.agent, 'infinity', forebay._run_words(p_run), 'observe_run');
    end if;

    v_held := forebay._lock_attempt(p_attempt_id);
    v_attempt := v_held.attempt;
    v_now := forebay._now();
    update forebay.task_attempts as a
    set run_state = p_run,
        run_ended_at = case when v_outcome.is_ended then coalesce(a.run_ended_at, v_now) end,
        is_stop_pending = a.is_stop_pending and not v_outcome.is_ended
    where a.attempt_id = p_attempt_id
    returning a.* into v_attempt;
    if v_attempt.finished_at is not null then
        return 'none';
    end if;

    v_agent := forebay._get_agent(v_attempt.agent);
    if v_now < v_attempt.deadline_at
        and (v_outcome.outcome = 'renew' or v_outcome.may_report_yet and v_now < v_attempt.run_ended_at + v_limits.report_grace) then
        update forebay.task_attempts as a
        set lease_expires_at = least(v_now + v_agent.lease, a.deadline_at)
        where a.attempt_id = p_attempt_id;
        return 'renew';
    end if;

    return forebay._end_observed(v_attempt, v_held.task, v_agent, v_outcome, v_now);
end;
$function$;

comment on function forebay.observe_run is 'Take in what the launcher saw of an attempt''s run, and let the table run_outcomes say what follows.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/observe_run.sql', 'repeatable', 'df271566de0d8dfd8733bbdd2944b16b42f29d5281e107e26cbf8e4308a75e89', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/record_run.sql
create or replace function forebay.record_run(p_attempt_id bigint, p_run_id text)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.
--
-- Writes     forebay.task_attempts.run_id, status
-- Locks      the attempt
-- Errors     22023  p_attempt_id is null, or p_run_id is null, empty or too long
--            QF202  another run is recorded: a launch token names one run
--            QF304  there is no such attempt
-- Called by  forebay_worker
declare
    v_run_id text;
begin
    if p_run_id is null or char_length(p_run_id) not between 1 and 500 then
        raise exception 'p_run_id must have 1 to 500 characters' using errcode = '22023';
    end if;
    perform forebay._get_attempt(p_attempt_id);
    select a.run_id into v_run_id from forebay.task_attempts as a where a.attempt_id = p_attempt_id for no key update;
    if v_run_id <> p_run_id then
        raise exception 'attempt % already runs as %, not as %', p_attempt_id, v_run_id, p_run_id using errcode = 'QF202';
    end if;

    update forebay.task_attempts as a
    set run_id = p_run_id, status = case a.status when 'claimed' then 'running' else a.status end
    where a.attempt_id = p_attempt_id and v_run_id is null;
end;
$function$;

comment on function forebay.record_run is 'Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/record_run.sql', 'repeatable', '6b8cdb5df837051fe0e597319d43c027339b895d0c5b039ce722237aac8754f0', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/release.sql
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
-- Without reported usage the whole charge of tokens is refunded; max_rpm counts the claim all the same. After the agent's max_releases a release spends an attempt. An
-- attempt that no longer holds the task changes nothing, but is known to have stopped; a cancelled one is refunded too.
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
            v_held.attempt, (v_held.attempt).status = 'cancelled' and (v_held.attempt).is_stop_pending
        );
        return (v_held.task).status;
    end if;

    v_agent := forebay._get_agent((v_held.attempt).agent);
    v_is_spent := (v_held.task).release_count >= v_agent.max_releases;
    update forebay.task_attempts as a
    set status = 'released', finished_at = greatest(v_now, a.started_at),
        error = jsonb_build_object('kind', 'released', 'message', left(p_reason, 2000))
    where a.attempt_id = p_attempt_id;
    perform forebay._settle(v_held.attempt, true);
    return forebay._give_back(
        v_held.task, v_agent,
        jsonb_build_object('kind', 'infrastructure', 'message', format('handed back too often: %s', left(p_reason, 2000))),
        true, p_retry_in, not v_is_spent
    );
end;
$function$;

comment on function forebay.release is 'Hand a task back without spending the attempt: the launch was refused, or the worker shuts down.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/release.sql', 'repeatable', '939a00f65da44f63a2bb61e933bf9fc405d54bcb8bac49ef38b0345aa794d719', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/renew_leases.sql
create or replace function forebay.renew_leases(p_worker text, p_attempt_ids bigint[])
    returns setof forebay.renewed_lease
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
-- Extend the leases that p_worker still holds, and say what became of the others.
--
-- renewed: go on. cancel_requested: stop, then report or release. lost: the lease ran out, the deadline passed, or it was
-- never p_worker's; stop, though a success reported late still counts. finished: nothing is left to do.
--
-- Returns    one row a distinct id, in no set order
-- Writes     forebay.task_attempts.lease_expires_at, up to the deadline
-- Locks      the attempts, by id
-- Errors     22023  p_worker is no name, or p_attempt_ids is null
-- Called by  forebay_worker
declare
    v_worker text := p_worker;
    v_ids    bigint[] := forebay._require_ids(p_attempt_ids, 'p_attempt_ids');
    v_now    timestamptz;
begin
    perform forebay._require_worker(p_worker);
    perform 1 from forebay.task_attempts as a where a.attempt_id = any(v_ids) order by a.attempt_id for no key update;
    v_now := forebay._now();

    update forebay.task_attempts as a
    set lease_expires_at = least(v_now + g.lease, a.deadline_at)
    from forebay.agents as g
    where a.attempt_id = any(v_ids) and g.agent = a.agent
        and a.worker = v_worker and a.finished_at is null and a.lease_expires_at > v_now and a.deadline_at > v_now;

    return query
    select
        ids.attempt_id,
        case
            when a.attempt_id is null or a.worker <> v_worker then 'lost'
            when a.finished_at is null then case when a.lease_expires_at > v_now then 'renewed' else 'lost' end
            when a.status in ('cancelled', 'superseded') and a.is_stop_pending then 'cancel_requested'
            when a.status = 'lost' or a.status = 'failed' and a.reported_at is null then 'lost'
            else 'finished'
        end,
        a.lease_expires_at
    from unnest(v_ids) as ids (attempt_id)
    left join forebay.task_attempts as a on a.attempt_id = ids.attempt_id;
end;
$function$;

comment on function forebay.renew_leases is 'Extend the leases that p_worker still holds, and say what became of the others.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/renew_leases.sql', 'repeatable', 'c0886187a0d032b3d2ba28d10b703ead09d84ef2c89c631ba7efdc36c8fb7bcc', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/runs_to_cancel.sql
create or replace function forebay.runs_to_cancel(p_worker text, p_limit integer default 100)
    returns setof forebay.run_to_cancel
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.
--
-- A run is handed out at most once in ten seconds, to whoever asks first, until observe_run or a report shows its end.
--
-- Returns    one row a run
-- Writes     forebay.task_attempts.stop_asked_at
-- Locks      the attempts, skipping what somebody else holds
-- Errors     22023  p_worker or p_limit is wrong
-- Called by  forebay_worker
declare
    v_now timestamptz := forebay._now();
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    with due as (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.is_stop_pending and forebay._is_external(a.launcher) and a.run_id is not null
            and (a.stop_asked_at is null or a.stop_asked_at <= v_now - interval '10 seconds')
        order by a.attempt_id
        limit p_limit
        for no key update skip locked
    )
    update forebay.task_attempts as a
    set stop_asked_at = v_now
    from due, forebay.agents as g
    where a.attempt_id = due.attempt_id and g.agent = a.agent
    returning a.attempt_id, a.task_id, a.agent, a.launcher, g.job_id, a.run_id, a.launch_token;
end;
$function$;

comment on function forebay.runs_to_cancel is 'List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/runs_to_cancel.sql', 'repeatable', '93d9491bc167c42b5b6e2473281519e3582140e2e925ab59d039d19ad459a52f', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/sweep.sql
create or replace function forebay.sweep(p_limit integer default 1000, p_worker text default null)
    returns forebay.sweep_result
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
-- Put the tasks of expired leases and passed deadlines back in line, or fail them; wake what is due.
--
-- Safe from any number of callers at once. p_worker is only noted for health().
--
-- Returns    how many tasks went back in line, failed, and became due
-- Writes     forebay.tasks, forebay.task_attempts, forebay.dispatchers
-- Locks      the tasks, by id, then their attempts, skipping what somebody else holds
-- Errors     22023  p_limit is not from 1 to 100,000
-- Called by  forebay_worker, forebay_upkeep
declare
    v_swept forebay.sweep_result;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 100000);
    if p_worker is not null then
        perform forebay._require_worker(p_worker);
        perform forebay._seen(p_worker, 'sweep');
    end if;

    v_swept := forebay._end_expired(null, p_limit);
    select coalesce(sum(forebay._wake_due(a.agent, forebay._now(), p_limit)), 0)::integer into v_swept.woken
    from forebay.agents as a;

    delete from forebay.dispatchers as d
    where d.worker in (
        select old.worker from forebay.dispatchers as old
        where greatest(old.last_claim_at, old.last_sweep_at) < forebay._now() - interval '1 day'
        for update skip locked
    );
    return v_swept;
end;
$function$;

comment on function forebay.sweep is 'Put the tasks of expired leases and passed deadlines back in line, or fail them; wake what is due.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/sweep.sql', 'repeatable', '7f9e0e2e3b8d61f3355f6fac0c9717ae613d003c9afee498e646724be549e037', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/callback.sql
create or replace function forebay.callback(p_event jsonb)
    returns jsonb
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
-- Take in a webhook event: the same effect as complete, fail or report_usage, any number of times, in any order.
--
-- p_event is {"type": "task.completed" | "task.failed" | "task.usage", "timestamp": ..., "data": {"task_id", "attempt_id",
-- "result", "confidence", "error", "retryable", "retry_after_seconds", "usage"}}. Usage is recorded first, whatever the type.
--
-- Returns    {"task_id", "status", "effect"}: effect is completed, retrying, failed, kept, recorded or none
-- Writes     forebay.tasks, forebay.task_attempts, forebay.attempt_usage, forebay.agent_settlements
-- Locks      the task, then its attempts, by id
-- Errors     22023  a key is missing or of a wrong type
--            QF304  there is no such attempt, or it is not the task's
--            QF401  this database is a copy
--            QF402  the result or the error is too large
-- Called by  forebay_agent
declare
    v_type       text;
    v_data       jsonb;
    v_task_id    bigint;
    v_attempt_id bigint;
    v_report     forebay.reported_attempt;
    v_recorded   integer := 0;
begin
    if coalesce(jsonb_typeof(p_event), 'null') <> 'object' or coalesce(jsonb_typeof(p_event -> 'data'), 'null') <> 'object' then
        raise exception 'p_event must be a JSON object with an object under "data"' using errcode = '22023';
    end if;
    v_type := coalesce(forebay._json_text(p_event, 'type'), '');
    if v_type not in ('task.completed', 'task.failed', 'task.usage') then
        raise exception '"type" must be task.completed, task.failed or task.usage, not "%"', left(v_type, 60)
            using errcode = '22023';
    end if;
    if coalesce(jsonb_typeof(p_event -> 'timestamp'), 'null') not in ('null', 'string', 'number') then
        raise exception '"timestamp" must be a time, not %', jsonb_typeof(p_event -> 'timestamp') using errcode = '22023';
    end if;
    v_data := p_event -> 'data';
    v_task_id := forebay._json_integer(v_data, 'task_id');
    v_attempt_id := forebay._json_integer(v_data, 'attempt_id');
    if v_task_id is null or v_attempt_id is null then
        raise exception '"task_id" and "attempt_id" are required' using errcode = '22023';
    end if;
    perform forebay._require_open();
    perform 1 from forebay.task_attempts as a where a.attempt_id = v_attempt_id and a.task_id = v_task_id;
    if not found then
        raise exception 'task % has no attempt %', v_task_id, v_attempt_id using errcode = 'QF304';
    end if;

    perform forebay._lock_attempt(v_attempt_id);
    if coalesce(jsonb_typeof(v_data -> 'usage'), 'null') <> 'null' then
        v_recorded := forebay.report_usage(v_attempt_id, v_data -> 'usage');
    elsif v_type = 'task.usage' then
        raise exception '"usage" is required' using errcode = '22023';
    end if;
    v_report := forebay._report_event(v_type, v_attempt_id, v_data);
    return jsonb_build_object(
        'task_id', v_task_id,
        'status', coalesce(v_report.status, (select t.status from forebay.tasks as t where t.task_id = v_task_id)),
        'effect', coalesce(v_report.effect, case when v_recorded > 0 then 'recorded' else 'none' end)
    );
end;
$function$;

comment on function forebay.callback is 'Take in a webhook event: the same effect as complete, fail or report_usage, any number of times, in any order.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/callback.sql', 'repeatable', '98f9be962781a12417af2508e33cd5adc487314727f29ba5609b20f5d8064fd5', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/complete.sql
create or replace function forebay.complete(p_attempt_id bigint, p_result jsonb, p_confidence numeric default null)
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
-- Report that an attempt succeeded, with its result; any number of times, also after the lease was lost.
--
-- Unlike complete_many it raises on a bad result, and changes nothing then.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_attempt_id is null, or p_confidence is not from 0 to 1
--            QF304  there is no such attempt
--            QF402  the result is too large
-- Called by  forebay_agent
begin
    perform forebay._get_attempt(p_attempt_id);
    perform forebay._require_size(p_result, 'the result', (forebay._limits()).max_result_bytes);
    if p_confidence not between 0 and 1 then
        raise exception 'p_confidence must be from 0 to 1, not %', p_confidence using errcode = '22023';
    end if;
    return (
        select c.status
        from forebay.complete_many(array[p_attempt_id], array[p_result], array[p_confidence]) as c
    );
end;
$function$;

comment on function forebay.complete is 'Report that an attempt succeeded, with its result; any number of times, also after the lease was lost.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/complete.sql', 'repeatable', '28fa401c8917c9c15328ed76f20df9373eadf321598ca4ccd692ceffe3f80809', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/complete_many.sql
create or replace function forebay.complete_many(
    p_attempt_ids bigint[],
    p_results     jsonb[],
    p_confidences numeric[] default null
)
    returns setof forebay.reported_attempt
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
-- Report that attempts succeeded, each with its result; a bad one fails its own attempt for good and spoils no other.
--
-- Returns    one row a distinct id, by id; of an id given twice the first result counts; an unknown id has status null
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  an array is null, or their lengths differ
-- Called by  forebay_agent
declare
    v_report record;
begin
    if p_attempt_ids is null or p_results is null
        or cardinality(p_attempt_ids) <> cardinality(p_results)
        or cardinality(p_attempt_ids) <> cardinality(p_confidences) then
        raise exception 'p_attempt_ids, p_results and p_confidences must have the same length' using errcode = '22023';
    end if;
    perform forebay._lock_tasks(
        array(select a.task_id from forebay.task_attempts as a where a.attempt_id = any(p_attempt_ids)), p_attempt_ids
    );

    for v_report in
        select distinct on (given.attempt_id)
            given.attempt_id, given.result, given.confidence,
            a.attempt_id is not null as is_known,
            forebay._result_fault(given.result, given.confidence) as fault
        from unnest(p_attempt_ids, p_results, p_confidences) with ordinality as given (attempt_id, result, confidence, ordinal)
        left join forebay.task_attempts as a on a.attempt_id = given.attempt_id
        where given.attempt_id is not null
        order by given.attempt_id, given.ordinal
    loop
        if not v_report.is_known then
            return next (v_report.attempt_id, null, 'none')::forebay.reported_attempt;
        else
            return next forebay._report(
                v_report.attempt_id, v_report.fault is null, v_report.result, v_report.confidence,
                jsonb_build_object('kind', 'bad_input', 'message', v_report.fault), false, null
            );
        end if;
    end loop;
end;
$function$;

comment on function forebay.complete_many is 'Report that attempts succeeded, each with its result; a bad one fails its own attempt for good and spoils no other.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/complete_many.sql', 'repeatable', '11ff8fa50e76346648f74a98638451988b3b1e2841831e93fa0afeece2159f79', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/fail.sql
create or replace function forebay.fail(
    p_attempt_id  bigint,
    p_error       jsonb,
    p_retryable   boolean default true,
    p_retry_after interval default null
)
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
-- Report that an attempt failed: the task goes back in line after p_retry_after (null: the agent's backoff), or fails.
--
-- p_error is an object with kind and message and anything else; an unknown kind counts as agent_bug.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_error is no object, p_retryable is null, or p_retry_after is negative or above a year
--            QF304  there is no such attempt
--            QF402  p_error is too large
-- Called by  forebay_agent
begin
    if p_retryable is null then
        raise exception 'p_retryable must not be null' using errcode = '22023';
    end if;
    perform forebay._require_delay(p_retry_after, 'p_retry_after');
    perform forebay._require_size(p_error, 'the error', (forebay._limits()).max_result_bytes);
    return (forebay._report(p_attempt_id, false, null, null, forebay._error(p_error), p_retryable, p_retry_after)).status;
end;
$function$;

comment on function forebay.fail is 'Report that an attempt failed: the task goes back in line after p_retry_after (null: the agent''s backoff), or fails.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/fail.sql', 'repeatable', '105ee5c438edb0018033305fe0974632881b328e18ad2186975de1bfe7df8bc5', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/report_progress.sql
create or replace function forebay.report_progress(p_attempt_id bigint, p_done integer, p_total integer)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Note how far an open attempt has come: p_done of p_total (null: not known). Shown, never notified, no lease renewal.
--
-- Writes     forebay.task_attempts.progress_done, progress_total
-- Errors     22023  a number is null, negative, or p_done is above p_total
--            QF304  there is no such attempt
-- Called by  forebay_agent
begin
    if p_done is null or p_done < 0 or p_total < p_done then
        raise exception 'progress must be 0 or more of a total that is not below it, not % of %', p_done, p_total
            using errcode = '22023';
    end if;
    update forebay.task_attempts as a
    set progress_done = p_done, progress_total = p_total
    where a.attempt_id = p_attempt_id and a.finished_at is null;
    if not found then
        perform forebay._get_attempt(p_attempt_id);
    end if;
end;
$function$;

comment on function forebay.report_progress is 'Note how far an open attempt has come: p_done of p_total (null: not known). Shown, never notified, no lease renewal.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/report_progress.sql', 'repeatable', '6b091bc6f7b2068b9c76076b1236572391f20522bdccb5dc7c0e65018cc2997b', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/report_usage.sql
create or replace function forebay.report_usage(p_attempt_id bigint, p_usage jsonb)
    returns integer
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
-- Record what an attempt's model calls used, at any time, once per source and call id.
--
-- p_usage is an object or an array of them: call_id (required), source (agent or trace), model, input_tokens,
-- output_tokens, cached_tokens (part of the input), cost_usd, started_at, latency_ms, trace_id. A missing number is
-- unknown, not zero. The same call again: the first numbers win, unknown ones are filled.
--
-- Returns    how many calls were new or filled
-- Writes     forebay.attempt_usage, forebay.task_attempts, forebay.agent_settlements
-- Locks      the attempt
-- Errors     22023  p_attempt_id is null, p_usage is neither, or a key is missing, of a wrong type, or negative; nothing is recorded then
--            QF304  there is no such attempt
-- Called by  forebay_agent
declare
    v_attempt forebay.task_attempts;
    v_usage   jsonb;
    v_changed integer := 0;
begin
    if coalesce(jsonb_typeof(p_usage), 'null') not in ('object', 'array') then
        raise exception 'p_usage must be a JSON object, or an array of them' using errcode = '22023';
    end if;
    perform forebay._get_attempt(p_attempt_id);
    select a.* into v_attempt from forebay.task_attempts as a where a.attempt_id = p_attempt_id for no key update;

    for v_usage in
        select elements.value
        from jsonb_array_elements(case jsonb_typeof(p_usage) when 'array' then p_usage else jsonb_build_array(p_usage) end)
            as elements
    loop
        v_changed := v_changed + forebay._record_usage(p_attempt_id, v_usage)::integer;
    end loop;
    if v_changed = 0 then
        return 0;
    end if;
    -- Written even when nothing changes in it: a report in an older snapshot, which cannot see the usage, then gets 40001.
    update forebay.task_attempts as a
    set trace_id = coalesce(a.trace_id, (
        select min(u.trace_id) from forebay.attempt_usage as u where u.attempt_id = p_attempt_id
    ))
    where a.attempt_id = p_attempt_id;
    if v_attempt.finished_at is not null then
        perform forebay._settle(v_attempt);
    end if;
    return v_changed;
end;
$function$;

comment on function forebay.report_usage is 'Record what an attempt''s model calls used, at any time, once per source and call id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/report_usage.sql', 'repeatable', '7b11ed8c1e70b6d7d102cd120adefffc5b518da1c50ded4c35f7ec4d05de8da2', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/cancel.sql
create or replace function forebay.cancel(p_task_ids bigint[], p_reason text default null, p_actor text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel tasks that wait or run; their workers are told at the next renewal, their runs are cancelled.
--
-- Returns    one row a distinct id, by id; effect is cancelled, none (it had ended) or unknown
-- Writes     forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  p_task_ids is null
-- Called by  forebay_operator
begin
    return query
    select * from forebay._cancel(p_task_ids, p_reason, p_actor);
end;
$function$;

comment on function forebay.cancel is 'Cancel tasks that wait or run; their workers are told at the next renewal, their runs are cancelled.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/cancel.sql', 'repeatable', 'b19ea52fc8de6ef90dceeffed54f89665cadb96b18894ae9d5196b679f27b373', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/open_installation.sql
create or replace function forebay.open_installation(p_reason text default null, p_actor text default null)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let a branch or a restored copy dispatch in this cluster. It stays marked as a branch; its tasks run here as well as where they came from.
--
-- Writes     forebay.installation, forebay.audit_log
-- Called by  forebay_operator
begin
    update forebay.installation as i set opened_in = forebay._cluster() where forebay._is_copy(i);
    perform forebay._audit('open_installation', null, null, p_reason, p_actor);
end;
$function$;

comment on function forebay.open_installation is 'Let a branch or a restored copy dispatch in this cluster. It stays marked as a branch; its tasks run here as well as where they came from.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/open_installation.sql', 'repeatable', 'e5b2b0811a664b4631cc8068039da44dd771bf0b26c96ceb7253aece540cd53a', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/pause_agent.sql
create or replace function forebay.pause_agent(
    p_agent  text,
    p_until  timestamptz default null,
    p_reason text default null,
    p_actor  text default null
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let an agent start nothing until p_until (null: until it is resumed); what runs goes on. p_agent null means every agent.
--
-- Returns    how many agents were paused
-- Writes     forebay.agents, forebay.audit_log
-- Locks      the agents, by name: it waits for admissions that are under way
-- Errors     22023  p_until is not in the future
--            QF301  no such agent
-- Called by  forebay_operator
begin
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    if p_until <= forebay._now() then
        raise exception 'p_until must be in the future, not %', p_until
            using errcode = '22023', hint = 'forebay.resume_agent ends a pause.';
    end if;
    return forebay._pause(p_agent, coalesce(p_until, 'infinity'), p_reason, p_actor);
end;
$function$;

comment on function forebay.pause_agent is 'Let an agent start nothing until p_until (null: until it is resumed); what runs goes on. p_agent null means every agent.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/pause_agent.sql', 'repeatable', '644ab2d29c190cbc44c73505248c30a271f9f175c402c7933e3837f6247295f7', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/register_agent.sql
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
--
-- Writes     forebay.agents, forebay.agent_budgets, forebay.agent_settlements, forebay.audit_log
-- Locks      the agent's lock and budget row: it waits for admissions that are under way
-- Errors     22023  an argument is out of its range
-- Called by  forebay_operator
declare
    v_old    forebay.agents;
    v_new    forebay.agents := (
        p_agent, p_launcher, p_job_id, p_entry_point, p_max_concurrent_tasks, p_max_tpm, p_max_rpm, p_tpm_burst,
        forebay._exact(p_lease), forebay._exact(p_timeout), p_max_attempts, p_max_releases, forebay._exact(p_backoff_base),
        forebay._exact(p_backoff_max), p_on_lost_lease, p_late_results, p_default_estimated_tokens, p_retention,
        null, null, null, null
    )::forebay.agents;
    v_now    timestamptz;
begin
    perform forebay._require_agent_definition(v_new);
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
        updated_at = excluded.updated_at;

    perform forebay._set_budget(v_old, v_new, v_now);
    perform forebay._audit('register_agent', null, p_agent, p_reason, p_actor, to_jsonb(v_new));
end;
$function$;

comment on function forebay.register_agent is 'Define an agent, or define it anew: a parameter that is left out takes its default. A pause stays.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/register_agent.sql', 'repeatable', '98e0038b0187c5f086f6106da066b55d80e07018d690fb9d33958236d081c2b5', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/reprioritize.sql
create or replace function forebay.reprioritize(
    p_task_ids bigint[],
    p_priority integer,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Give tasks that have not ended another priority; one that is processing takes it when it comes back in line.
--
-- Returns    one row a distinct id, by id; effect is reprioritized, none (ended, or had it) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
-- Called by  forebay_operator
declare
    v_ids     bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_changed bigint[];
begin
    perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    perform forebay._lock_tasks(v_ids);
    with changed as (
        update forebay.tasks as t
        set priority = p_priority
        where t.task_id = any(v_ids) and t.status in ('enqueued', 'processing') and t.priority <> p_priority
        returning t.task_id
    )
    select coalesce(array_agg(c.task_id), '{}') into v_changed from changed as c;
    perform forebay._audit(
        'reprioritize', v_changed, null, p_reason, p_actor, jsonb_build_object('priority', p_priority)
    );
    return query select * from forebay._effects(v_ids, v_changed, 'reprioritized');
end;
$function$;

comment on function forebay.reprioritize is 'Give tasks that have not ended another priority; one that is processing takes it when it comes back in line.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/reprioritize.sql', 'repeatable', 'c9172a0708c1d16a4b7b526a3d53a42b05f5384f30587e21ed7de392902b7921', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/reprocess.sql
create or replace function forebay.reprocess(
    p_task_ids bigint[],
    p_agent    text default null,
    p_priority integer default 10,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.reprocessed_task
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Enqueue finished tasks anew, as new tasks linked by reprocess_of; the old ones and their results stay.
--
-- p_agent null means the same agent. Payload, batch, customer and estimate are taken over.
--
-- Returns    one row a distinct id, by id; effect is reprocessed, none (it has not finished) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
--            QF301  no such agent
-- Called by  forebay_operator
declare
    v_ids bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_old bigint[];
    v_new bigint[];
    v_now timestamptz;
begin
    perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    with renewed as (
        insert into forebay.tasks (
            agent, priority, batch_id, customer, payload, estimated_tokens, max_attempts, available_at, created_at,
            reprocess_of
        )
        select
            coalesce(p_agent, t.agent), p_priority, t.batch_id, t.customer, t.payload, t.estimated_tokens, t.max_attempts,
            v_now, v_now, t.task_id
        from forebay.tasks as t
        where t.task_id = any(v_ids) and t.status in ('completed', 'failed', 'cancelled')
        order by t.task_id
        returning task_id, reprocess_of
    )
    select coalesce(array_agg(r.reprocess_of), '{}'), coalesce(array_agg(r.task_id), '{}') into v_old, v_new from renewed as r;
    perform forebay._audit('reprocess', v_old, p_agent, p_reason, p_actor);

    return query
    select e.task_id, e.status, e.effect, renewed.new_id
    from forebay._effects(v_ids, v_old, 'reprocessed') as e
    left join unnest(v_old, v_new) as renewed (old_id, new_id) on renewed.old_id = e.task_id
    order by e.task_id;
end;
$function$;

comment on function forebay.reprocess is 'Enqueue finished tasks anew, as new tasks linked by reprocess_of; the old ones and their results stay.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/reprocess.sql', 'repeatable', '20d34a9fabbcf72533c134d924e9ac9de0d1fd78928366a0b0a5915f8db4f8f1', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/resume_agent.sql
create or replace function forebay.resume_agent(p_agent text, p_reason text default null, p_actor text default null)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- End an agent's pause. p_agent null means every agent.
--
-- Returns    how many agents were paused before
-- Writes     forebay.agents, forebay.audit_log
-- Locks      the agents, by name
-- Errors     QF301  no such agent
-- Called by  forebay_operator
begin
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    return forebay._pause(p_agent, null, p_reason, p_actor);
end;
$function$;

comment on function forebay.resume_agent is 'End an agent''s pause. p_agent null means every agent.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/resume_agent.sql', 'repeatable', '9a67a6dcf9fa1dc1047b05d0aac4a1bb3d66894299af7f5515260ca54d2871e9', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/retry.sql
create or replace function forebay.retry(
    p_task_ids bigint[],
    p_priority integer default null,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed and cancelled tasks back in line, with fresh attempts; p_priority null keeps theirs.
--
-- Returns    one row a distinct id, by id; effect is retried, none (nothing to retry) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
-- Called by  forebay_operator
begin
    return query
    select * from forebay._retry(p_task_ids, p_priority, p_reason, p_actor);
end;
$function$;

comment on function forebay.retry is 'Put failed and cancelled tasks back in line, with fresh attempts; p_priority null keeps theirs.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/retry.sql', 'repeatable', 'c26f542f819b28dc1af1549b2c504b076d9495d3ccf82c627cdbf2a027945c52', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/agent_status.sql
create or replace function forebay.agent_status(p_agents text[] default null)
    returns setof forebay.agent_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each agent as it stands now: what waits and runs, its limits and how much of them is left, whether it is paused.
--
-- Returns    one row an agent, by name; state is closed (a limit is 0), paused, full, out_of_requests, out_of_tokens or open
-- Errors     QF301  no such agent
-- Called by  forebay_viewer
declare
    v_agents text[] := p_agents;
    v_now    timestamptz := forebay._now();
begin
    perform forebay._require_agents(p_agents);
    return query
    select
        a.agent, a.launcher, forebay._agent_state(a, v_now),
        (
            select count(*) from forebay.tasks as t
            where t.agent = a.agent and t.status = 'enqueued' and (t.is_ready or t.available_at <= v_now)
        ),
        (
            select count(*) from forebay.tasks as t
            where t.agent = a.agent and t.status = 'enqueued' and not t.is_ready and t.available_at > v_now
        ),
        flight.tasks, a.max_concurrent_tasks,
        a.max_tpm, levels.tokens, forebay._token_burst(a), flight.tokens,
        a.max_rpm, levels.requests, forebay._request_burst(a),
        case when a.paused_until > v_now then a.paused_until end, case when a.paused_until > v_now then a.pause_reason end,
        (
            select min(t.created_at) from forebay.tasks as t
            where t.agent = a.agent and t.status = 'enqueued' and (t.is_ready or t.available_at <= v_now)
        ),
        a.job_id, a.entry_point, a.lease, a.timeout, a.max_attempts
    from forebay.agents as a
    cross join lateral forebay._levels(a, v_now) as levels
    cross join lateral (
        select count(*) as tasks, coalesce(sum(o.estimated_tokens), 0)::bigint as tokens
        from forebay.task_attempts as o
        where o.agent = a.agent and o.finished_at is null
    ) as flight
    where v_agents is null or a.agent = any(v_agents)
    order by a.agent;
end;
$function$;

comment on function forebay.agent_status is 'Each agent as it stands now: what waits and runs, its limits and how much of them is left, whether it is paused.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/agent_status.sql', 'repeatable', 'b34aaf8e25cee0f4faa07e3443769f454cbcfb604c2db5adf7bc561a4ee87bb7', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/batch_progress.sql
create or replace function forebay.batch_progress(p_batch_id bigint)
    returns forebay.batch_progress
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How far a batch has come: its tasks by status.
--
-- Returns    one row; finished_at is when the last task ended, null while one waits or runs or there is none
-- Errors     22023  p_batch_id is null
--            QF302  no such batch
-- Called by  forebay_viewer
declare
    v_batch    forebay.batches := forebay._get_batch(p_batch_id);
    v_progress forebay.batch_progress;
begin
    select
        v_batch.batch_id, v_batch.name, v_batch.customer, v_batch.owner, v_batch.created_at,
        count(*),
        count(*) filter (where t.status = 'enqueued'),
        count(*) filter (where t.status = 'processing'),
        count(*) filter (where t.status = 'completed'),
        count(*) filter (where t.status = 'failed'),
        count(*) filter (where t.status = 'cancelled'),
        case when bool_and(t.finished_at is not null) then max(t.finished_at) end
    into v_progress
    from forebay.tasks as t
    where t.batch_id = p_batch_id;
    return v_progress;
end;
$function$;

comment on function forebay.batch_progress is 'How far a batch has come: its tasks by status.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/batch_progress.sql', 'repeatable', '11cf33c25ab77eaf5520703aabdce002ded4782b6233a47881f3460f83ac226e', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/explain_task.sql
create or replace function forebay.explain_task(p_task_id bigint)
    returns forebay.task_explanation
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say why a task waits and until when, or what became of it.
--
-- Returns    one row; reason is not_open, paused, delayed, closed, full, out_of_requests, out_of_tokens, behind_others or
--            ready while it waits, lease_expired or running while it is processing, else its status
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_viewer
declare
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_answer forebay.task_explanation;
begin
    if v_task.status = 'enqueued' then
        v_answer := forebay._explain_waiting(v_task);
    elsif v_task.status = 'processing' then
        v_answer := forebay._explain_running(v_task);
    else
        v_answer.reason := v_task.status;
        v_answer.explanation := format(
            'It ended as %s at %s after %s attempt(s)%s.', v_task.status, v_task.finished_at, v_task.attempt_no,
            coalesce(': ' || (v_task.error ->> 'message'), '')
        );
    end if;
    v_answer.task_id := v_task.task_id;
    v_answer.status := v_task.status;
    return v_answer;
end;
$function$;

comment on function forebay.explain_task is 'Say why a task waits and until when, or what became of it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/explain_task.sql', 'repeatable', '35df128eda72e67713e36dfb6ec4d93ce61503c1bab88b693a0274f06924e3eb', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/health.sql
create or replace function forebay.health()
    returns forebay.health_report
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether the machinery turns: who claims and sweeps, who listens, what waits longest, what holds the database back.
--
-- oldest_transaction_at sees only sessions of roles that forebay_owner may see; grant it pg_read_all_stats to see all.
--
-- Returns    one row; dispatchers are those that claimed or swept, the latest first; a sweep forgets those of yesterday
-- Called by  forebay_viewer
declare
    v_now    timestamptz := forebay._now();
    v_health forebay.health_report;
begin
    select
        forebay.schema_version(), i.installation_id, forebay._is_copy(i),
        forebay._may_dispatch(),
        (
            select coalesce(jsonb_agg(to_jsonb(d) order by greatest(d.last_claim_at, d.last_sweep_at) desc), '[]')
            from forebay.dispatchers as d
        ),
        (
            select count(*)::integer from pg_stat_activity as s
            where s.datname = current_database() and s.application_name = 'forebay listener'
        ),
        (select max(d.last_claim_at) from forebay.dispatchers as d),
        (select max(d.last_sweep_at) from forebay.dispatchers as d),
        (select min(t.created_at) from forebay.tasks as t where t.status = 'enqueued' and (t.is_ready or t.available_at <= v_now)),
        (select count(*) from forebay.agents as a, forebay.task_attempts as o
            where o.agent = a.agent and o.finished_at is null
                and forebay._is_expired(o, v_now, i.adoption_grace, i.report_grace)),
        (
            select min(s.xact_start) from pg_stat_activity as s
            where s.datname = current_database() and s.pid <> pg_backend_pid()
        ),
        pg_notification_queue_usage()
    into v_health
    from forebay.installation as i;
    return v_health;
end;
$function$;

comment on function forebay.health is 'Whether the machinery turns: who claims and sweeps, who listens, what waits longest, what holds the database back.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/health.sql', 'repeatable', '21b60ac521a393140aca9b9baf0b16a04f5ce5a06beefa8060e3bf56bf48c314', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/list_tasks.sql
create or replace function forebay.list_tasks(
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_before_task_id bigint default null,
    p_limit          integer default 100
)
    returns setof forebay.task_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List tasks, newest first, a page at a time: the next page is that before the last id of this one.
--
-- Returns    one row a task, by id downwards
-- Errors     22023  p_limit is not from 1 to 10,000, or a status does not exist
--            QF301, QF302  no such agent or batch
-- Called by  forebay_viewer
declare
    v_statuses  text[] := p_statuses;
    v_agents    text[] := p_agents;
    v_customers text[] := p_customers;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    perform forebay._require_statuses(v_statuses);
    perform forebay._require_agents(v_agents);
    if p_batch_id is not null then
        perform forebay._get_batch(p_batch_id);
    end if;
    return query
    select
        t.task_id, t.agent, t.status, t.priority::integer, t.batch_id, t.customer, t.locked_by, t.available_at,
        t.attempt_count, t.attempt_id, a.progress_done, a.progress_total, t.confidence, t.error ->> 'kind', t.created_at,
        t.finished_at, t.reprocess_of
    from forebay._matching_tasks(p_from, p_to, v_statuses, v_agents, v_customers) as t
    left join forebay.task_attempts as a on a.attempt_id = t.attempt_id
    where (p_batch_id is null or t.batch_id = p_batch_id)
        and (p_before_task_id is null or t.task_id < p_before_task_id)
    order by t.task_id desc
    limit p_limit;
end;
$function$;

comment on function forebay.list_tasks is 'List tasks, newest first, a page at a time: the next page is that before the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/list_tasks.sql', 'repeatable', '2a7b72e4a117033e6bf855eb10d79ecf8b1f79ad14e9094b0bf7ead8a8b0fec5', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/schema_version.sql
create or replace function forebay.schema_version()
    returns text
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The release of the schema that is installed, such as 0.1.0; drivers ask it before they start.
--
-- Called by  every role that calls any function
select h.name
from forebay.schema_history as h
where h.kind = 'release'
order by string_to_array(h.name, '.')::integer[] desc
limit 1;
$function$;

comment on function forebay.schema_version is 'The release of the schema that is installed, such as 0.1.0; drivers ask it before they start.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/schema_version.sql', 'repeatable', 'f451f0971e84e14822f60ff1b0e39b4ea6641d73f1114d518675eaec53ede4c4', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/server_time.sql
create or replace function forebay.server_time()
    returns timestamptz
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The time by the one clock that decides about leases; a driver compares its own with it, to know when to stop by itself.
--
-- Called by  every role that calls any function
select forebay._now();
$function$;

comment on function forebay.server_time is 'The time by the one clock that decides about leases; a driver compares its own with it, to know when to stop by itself.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/server_time.sql', 'repeatable', '0f5e4990a8b04d9c7f4865c6c6617474d0f70ae3750d91abb4cbfdbc808c21bf', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/task_counts.sql
create or replace function forebay.task_counts(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns setof forebay.task_count
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Count tasks by status; p_from and p_to are half-open, on created_at.
--
-- Returns    one row a status that p_statuses lets through, in the order of a task's life, 0 included
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_statuses  text[] := p_statuses;
    v_agents    text[] := p_agents;
    v_customers text[] := p_customers;
begin
    perform forebay._require_statuses(v_statuses);
    perform forebay._require_agents(v_agents);
    return query
    select words.status, count(t.task_id)
    from unnest(array['enqueued', 'processing', 'completed', 'failed', 'cancelled']) with ordinality as words (status, place)
    left join forebay._matching_tasks(p_from, p_to, v_statuses, v_agents, v_customers) as t on t.status = words.status
    where v_statuses is null or words.status = any(v_statuses)
    group by words.status, words.place
    order by words.place;
end;
$function$;

comment on function forebay.task_counts is 'Count tasks by status; p_from and p_to are half-open, on created_at.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/task_counts.sql', 'repeatable', 'f260bbd3778ec11d21ea5d7d38bbdc324d9a5f66d8c35912797cd08b4d2a901c', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/task_detail.sql
create or replace function forebay.task_detail(p_task_id bigint)
    returns forebay.task_detail
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Everything about a task but its payload and result: its attempts, their usage, and what people did to it.
--
-- Returns    one row; attempts, usage and audit are arrays of objects, oldest first
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_viewer
declare
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_detail forebay.task_detail;
begin
    select
        v_task.task_id, v_task.agent, v_task.status, v_task.priority::integer, v_task.batch_id, v_task.customer,
        (select b.owner from forebay.batches as b where b.batch_id = v_task.batch_id),
        v_task.idempotency_key, v_task.estimated_tokens, v_task.max_attempts, v_task.available_at, v_task.locked_by,
        v_task.attempt_id, v_task.attempt_no, v_task.attempt_count, v_task.release_count, v_task.confidence, v_task.error,
        v_task.reprocess_of,
        array(select t.task_id from forebay.tasks as t where t.reprocess_of = p_task_id order by t.task_id),
        v_task.created_at, v_task.finished_at,
        (
            select coalesce(jsonb_agg(to_jsonb(a) - '{result,task_id}'::text[] order by a.attempt_no), '[]')
            from forebay.task_attempts as a where a.task_id = p_task_id
        ),
        (
            select coalesce(jsonb_agg(to_jsonb(u) order by a.attempt_no, u.recorded_at, u.call_id), '[]')
            from forebay.task_attempts as a
            inner join forebay.attempt_usage as u on u.attempt_id = a.attempt_id
            where a.task_id = p_task_id
        ),
        (
            select coalesce(jsonb_agg(to_jsonb(l) - '{task_id}'::text[] order by l.audit_id), '[]')
            from forebay.audit_log as l where l.task_id = p_task_id
        )
    into v_detail;
    return v_detail;
end;
$function$;

comment on function forebay.task_detail is 'Everything about a task but its payload and result: its attempts, their usage, and what people did to it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/task_detail.sql', 'repeatable', 'e63185990f820a264a83e2cb06df15299c8fc7d99af62b5b82a4e70c251380a1', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/reader/task_result.sql
create or replace function forebay.task_result(p_task_id bigint)
    returns forebay.task_result
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- What went into a task and what came out of it, with the results of other attempts that were kept for audit.
--
-- Returns    one row; kept_results is an array of objects with attempt_id, result and confidence
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_reader
declare
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_result forebay.task_result;
begin
    select
        v_task.task_id, v_task.status, v_task.payload, v_task.result, v_task.confidence, v_task.error,
        (
            select coalesce(jsonb_agg(
                jsonb_build_object('attempt_id', a.attempt_id, 'result', a.result, 'confidence', a.confidence)
                order by a.attempt_no
            ), '[]')
            from forebay.task_attempts as a where a.task_id = p_task_id and a.result is not null
        )
    into v_result;
    return v_result;
end;
$function$;

comment on function forebay.task_result is 'What went into a task and what came out of it, with the results of other attempts that were kept for audit.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/reader/task_result.sql', 'repeatable', 'c6d7748297226f79a170d35090dbb52466db5d9abb59128fcf53ca2214c2810f', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new triggers/agents.sql
-- The trigger of forebay.agents: a new limit or the end of a pause can let something start.

create or replace function forebay._notify_of_agents()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Wake dispatchers and dashboards when an agent changed.
begin
    perform 1 from new_rows;
    if found then
        perform forebay._ask_wakeup(true);
    end if;
    return null;
end;
$function$;

comment on function forebay._notify_of_agents is 'Wake dispatchers and dashboards when an agent changed.';

create or replace trigger agents_notify_insert
after insert on forebay.agents
referencing new table as new_rows
for each statement
execute function forebay._notify_of_agents();

create or replace trigger agents_notify_update
after update on forebay.agents
referencing new table as new_rows
for each statement
execute function forebay._notify_of_agents();
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('triggers/agents.sql', 'repeatable', 'f3e88d9f6e055f86fa97342ee967bb70c2be612210f072a77ac7aa25bbb18c91', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new triggers/tasks.sql
-- The triggers of forebay.tasks: they guard and they wake; they decide nothing.

create or replace function forebay._refuse_transition()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse a change of status that the state machine does not have; the triggers' conditions say which.
--
-- Errors  QF901  always
begin
    raise exception 'task % cannot go from % to %', new.task_id, case tg_op when 'UPDATE' then old.status else 'nothing' end, new.status
        using errcode = 'QF901', hint = 'Only the functions of schema forebay change tasks.';
end;
$function$;

comment on function forebay._refuse_transition is 'Refuse a change of status that the state machine does not have; the triggers'' conditions say which.';

create or replace trigger tasks_refuse_insert
before insert on forebay.tasks
for each row
when (new.status <> 'enqueued')
execute function forebay._refuse_transition();

create or replace trigger tasks_refuse_update
before update on forebay.tasks
for each row
when (
    old.status <> new.status
    and (old.status, new.status) not in (
        ('enqueued', 'processing'), ('enqueued', 'completed'), ('enqueued', 'cancelled'),
        ('processing', 'completed'), ('processing', 'failed'), ('processing', 'enqueued'), ('processing', 'cancelled'),
        ('failed', 'enqueued'), ('cancelled', 'enqueued')
    )
)
execute function forebay._refuse_transition();

create or replace function forebay._notify_of_tasks()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Wake dispatchers when something can start, dashboards when anything changed, nobody when no row did.
declare
    v_is_work boolean;
begin
    perform 1 from new_rows;
    if not found then
        return null;
    end if;
    v_is_work := exists (select from new_rows as n where n.status = 'enqueued' and n.is_ready);
    if tg_op = 'UPDATE' and not v_is_work then
        v_is_work := exists (select from old_rows as o where o.status = 'processing');
    end if;
    perform forebay._ask_wakeup(v_is_work);
    return null;
end;
$function$;

comment on function forebay._notify_of_tasks is 'Wake dispatchers when something can start, dashboards when anything changed, nobody when no row did.';

create or replace trigger tasks_notify_insert
after insert on forebay.tasks
referencing new table as new_rows
for each statement
execute function forebay._notify_of_tasks();

create or replace trigger tasks_notify_update
after update on forebay.tasks
referencing old table as old_rows new table as new_rows
for each statement
execute function forebay._notify_of_tasks();
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('triggers/tasks.sql', 'repeatable', 'b51f2c870e7943746dc863230dbb2f5a7021b08f72afddeac5649eb4b9943638', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new triggers/wakeups.sql
-- The trigger of forebay.wakeups: what a transaction asked for is decided when it commits.

create or replace function forebay._wake()
    returns trigger
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Notify at commit, as far as the budget of notifications allows.
--
-- At commit, so that a transaction that stays open or rolls back spends nothing of the budget, and is not silenced by
-- others that will be over by then. It runs as whoever commits, so it is security definer.
begin
    delete from forebay.wakeups as w where w.wakeup_id = new.wakeup_id;
    perform forebay._notify('forebay_changes', 'forebay.changes_notified_until');
    if new.is_work then
        perform forebay._notify('forebay_work', 'forebay.work_notified_until');
    end if;
    return null;
end;
$function$;

comment on function forebay._wake is 'Notify at commit, as far as the budget of notifications allows.';

drop trigger if exists wakeups_notify on forebay.wakeups;
create constraint trigger wakeups_notify
after insert on forebay.wakeups
deferrable initially deferred
for each row
execute function forebay._wake();
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('triggers/wakeups.sql', 'repeatable', 'f495c2bbeff83254abb6d26cc01c37947b57dc126579b6ed19a421e17c03bf07', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new grants.sql
-- Who may call what: one block for each folder of functions/. Nobody but forebay_owner may touch a table.

revoke all on schema forebay from public;
revoke all on all tables in schema forebay from public;
revoke all on all functions in schema forebay from public;
grant usage on schema forebay to
forebay_submitter, forebay_worker, forebay_agent, forebay_operator, forebay_viewer, forebay_reader, forebay_upkeep;

-- submitter: hands in work, and looks after its own batches
grant execute on function
forebay.open_batch, forebay.enqueue, forebay.enqueue_many,
forebay.batch_tasks, forebay.cancel_batch, forebay.retry_batch
to forebay_submitter;

-- worker: claims, keeps leases, launches runs
grant execute on function
forebay.dequeue, forebay.record_run, forebay.renew_leases, forebay.release,
forebay.adopt, forebay.observe_run, forebay.runs_to_cancel, forebay.sweep
to forebay_worker;

-- agent: reports what became of an attempt
grant execute on function
forebay.complete, forebay.complete_many, forebay.fail,
forebay.report_usage, forebay.report_progress, forebay.callback
to forebay_agent;

-- operator: defines agents, and acts on tasks and agents
grant execute on function
forebay.register_agent, forebay.pause_agent, forebay.resume_agent, forebay.open_installation,
forebay.cancel, forebay.retry, forebay.reprocess, forebay.reprioritize
to forebay_operator;

-- viewer: sees everything but documents and results
grant execute on function
forebay.task_counts, forebay.list_tasks, forebay.task_detail, forebay.explain_task,
forebay.batch_progress, forebay.agent_status, forebay.health
to forebay_viewer;

-- reader: sees documents and results
grant execute on function forebay.task_result to forebay_reader;

-- upkeep: what a timer calls
grant execute on function forebay.sweep to forebay_upkeep;

-- everybody: which release is installed, and what time it is there
grant execute on function forebay.schema_version, forebay.server_time to
forebay_submitter, forebay_worker, forebay_agent, forebay_operator, forebay_viewer, forebay_reader, forebay_upkeep;

-- types: a table with a column of one of ours would hold up every later migration of it
do $types$
declare
    v_type name;
begin
    for v_type in
        select t.typname from pg_catalog.pg_type as t
        where t.typnamespace = 'forebay'::regnamespace and t.typelem = 0
    loop
        execute pg_catalog.format('revoke all on type forebay.%I from public', v_type);
    end loop;
end;
$types$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('grants.sql', 'repeatable', 'ea1ff27ebfbc6fa8c20e908ed7b14444e9a1c8c1e3fe7bf3dcbf98a1f3e1a97c', '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new 0.1.0
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('0.1.0', 'release', NULL, '0.1.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

commit;
