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
