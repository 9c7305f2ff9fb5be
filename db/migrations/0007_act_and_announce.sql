-- What operators look at and act on: lists that stay quick with millions of tasks, and what has to be announced.
--
-- requires  0006_take_uploads
-- locks     tasks, task_attempts and audit_log, for as long as it takes to build eight indexes
-- rewrites  no table
-- breaks    drivers before 0.3.0: list_tasks, task_detail and health have more columns
-- revert    revert/0007_act_and_announce.sql

-- squawk-ignore-file ban-drop-function, ban-drop-type
-- The functions that are dropped come back with their new signatures in the same transaction.

drop function if exists forebay.list_tasks(
    timestamptz, timestamptz, text[], text[], text[], bigint, bigint, integer
);
drop function if exists forebay.task_detail(bigint);
drop function if exists forebay.health();
drop function if exists forebay._line_state(text, timestamptz);
drop function if exists forebay._require_size(jsonb, text, integer);
drop type forebay.task_summary;
drop type forebay.task_detail;
drop type forebay.health_report;

create index tasks_listed on forebay.tasks (agent, status, created_at, task_id);
create index tasks_of_customer on forebay.tasks (customer, status, created_at, task_id) where customer is not null;
create index tasks_unsure on forebay.tasks (confidence) where confidence < 0.8;
create index task_attempts_stopped on forebay.task_attempts (status, started_at, attempt_id)
where status in ('failed', 'released', 'lost', 'superseded', 'cancelled');
create index task_attempts_run on forebay.task_attempts (run_id) where run_id is not null;
create index task_attempts_lost on forebay.task_attempts (finished_at) where status = 'lost';
create index audit_log_agent on forebay.audit_log (agent, audit_id) where agent is not null;
create index audit_log_actor on forebay.audit_log (actor, audit_id) where actor is not null;

create table forebay.announcements (
    announcement_id uuid        not null default gen_random_uuid(),
    kind            text        not null,
    subject         text        not null,
    occurrence      text        not null,
    details         jsonb       not null,
    occurred_at     timestamptz not null,
    created_at      timestamptz not null,
    ended_at        timestamptz,
    tries           integer     not null default 0,
    next_try_at     timestamptz not null,
    settled_at      timestamptz,
    last_error      text,
    constraint announcements_pkey primary key (announcement_id),
    constraint announcements_kind_known check (
        kind in ('agent.paused', 'waiting.too_long', 'spend_cap.reached', 'batch.done')
    ),
    constraint announcements_tries_not_negative check (tries >= 0)
) with (fillfactor = 70);
create unique index announcements_current on forebay.announcements (kind, subject, occurrence) where ended_at is null;
create index announcements_due on forebay.announcements (next_try_at) where settled_at is null;
comment on table forebay.announcements is
'What has to be told once: a condition that began, or a batch that is done. Written by collect_announcements.';
comment on column forebay.announcements.occurrence is
'Tells one time from another where the condition itself does not: when the batch was done, the day and the cap.';
comment on column forebay.announcements.ended_at is 'When the condition was seen to hold no more.';
comment on column forebay.announcements.next_try_at is 'Not handed out before: its lease, or the wait after a failure.';
comment on column forebay.announcements.settled_at is 'When it was sent, or given up (last_error is not null).';

create table forebay.announcement_marks (
    looked_at   timestamptz not null,
    next_xid    xid8        not null,
    is_complete boolean     not null default false,
    constraint announcement_marks_pkey primary key (looked_at)
);
comment on table forebay.announcement_marks is
'When batches that are done were looked for. Written by collect_announcements.';
comment on column forebay.announcement_marks.next_xid is 'Transactions from this one on began after it.';
comment on column forebay.announcement_marks.is_complete is
'A later look saw all that transactions from before it wrote: nothing of before it needs to be looked at again.';

create type forebay.task_summary as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, locked_by text,
    available_at timestamptz, attempt_count integer, attempt_id bigint, progress_done integer, progress_total integer,
    confidence numeric, error_kind text, created_at timestamptz, finished_at timestamptz, reprocess_of bigint,
    batch_name text, used_input_tokens bigint, used_output_tokens bigint, used_cached_tokens bigint,
    is_usage_known boolean, cost_usd numeric, is_cost_known boolean, run_time interval
);
comment on type forebay.task_summary is
'list_tasks: one row a task, newest first; tokens, cost_usd and run_time are those of all its attempts, null where nothing is known.';

create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, deferral_count integer,
    deferred_since timestamptz, confidence numeric, error jsonb, reprocess_of bigint, reprocessed_by bigint[],
    created_at timestamptz, finished_at timestamptz, attempts jsonb, usage jsonb, audit jsonb,
    batch_name text, used_input_tokens bigint, used_output_tokens bigint, used_cached_tokens bigint,
    is_usage_known boolean, cost_usd numeric, is_cost_known boolean, compute_usd numeric, run_time interval,
    as_of timestamptz
);
comment on type forebay.task_detail is
'task_detail: the task without payload and result; attempts, usage and audit are arrays of objects, oldest first; as_of is the server''s time.';

create type forebay.health_report as (
    schema_version text, installation_id uuid, is_branch boolean, may_dispatch boolean, dispatchers jsonb,
    listeners integer, last_claim_at timestamptz, last_sweep_at timestamptz, oldest_waiting_at timestamptz,
    expired_leases bigint, oldest_transaction_at timestamptz, notify_queue_usage double precision,
    oldest_transaction_of text, connections integer, max_connections integer, database_bytes bigint,
    server_version text, as_of timestamptz
);
comment on type forebay.health_report is
'health: dispatchers are objects with worker, first_seen_at, last_claim_at, last_sweep_at; notify_queue_usage is 0 to 1.';

create type forebay.batch_summary as (
    batch_id bigint, name text, customer text, owner text, created_at timestamptz, tasks bigint, enqueued bigint,
    processing bigint, completed bigint, failed bigint, cancelled bigint, finished_at timestamptz,
    llm_usd numeric, ended_attempts bigint, priced_attempts bigint
);
comment on type forebay.batch_summary is
'list_batches: counts by status; llm_usd is that of priced_attempts of ended_attempts, null where nothing is known.';

create type forebay.attempt_summary as (
    attempt_id bigint, task_id bigint, attempt_no integer, agent text, launcher text, status text, worker text,
    run_id text, trace_id text, started_at timestamptz, finished_at timestamptz, lease_expires_at timestamptz,
    error_kind text, error_message text, used_input_tokens bigint, used_output_tokens bigint,
    used_cached_tokens bigint, is_usage_known boolean, cost_usd numeric, is_cost_known boolean,
    task_status text, batch_id bigint, customer text
);
comment on type forebay.attempt_summary is 'list_attempts: one row an attempt, newest first; task_status is what its task is now.';

create type forebay.audit_entry as (
    audit_id bigint, acted_at timestamptz, action text, task_id bigint, agent text, session_role text, actor text,
    reason text, details jsonb
);
comment on type forebay.audit_entry is 'list_audit: one row a task or agent that an act changed, latest first.';

create type forebay.table_size as (
    name text, row_estimate bigint, bytes bigint, dead_rows bigint, last_autovacuum_at timestamptz
);
comment on type forebay.table_size is 'table_sizes: one row a table, largest first; bytes has its indexes.';

create type forebay.gauge as (metric text, help text, labels jsonb, value double precision);
comment on type forebay.gauge is 'monitoring: one row a metric and set of labels; units are in the metric''s name.';

create type forebay.effect_count as (effect text, tasks bigint);
comment on type forebay.effect_count is 'act_on_matching: how many tasks each effect had.';

create type forebay.announcement as (
    announcement_id uuid, kind text, subject text, details jsonb, occurred_at timestamptz, tries integer
);
comment on type forebay.announcement is
'collect_announcements: kind is agent.paused, waiting.too_long, spend_cap.reached or batch.done; tries counts this one too.';

create type forebay.task_filter as (
    created_from timestamptz, created_to timestamptz, statuses text[], agents text[], customers text[],
    batch_id bigint, max_confidence numeric, is_search boolean, found_tasks bigint[], found_batches bigint[],
    found_customers text[]
);
comment on type forebay.task_filter is
'Inside: which tasks are asked for, a search resolved to the ids and names that it means.';

create type forebay.condition as (
    kind text, subject text, occurrence text, details jsonb, occurred_at timestamptz
);
comment on type forebay.condition is 'Inside collect_announcements: what holds now and has to be told once.';

comment on type forebay.task_effect is
'An act on tasks: the status after it; effect is cancelled, retried, reprioritized, annotated, none or unknown.';

do $verify$
declare
    v_name text;
begin
    foreach v_name in array array[
        'announcements', 'announcement_marks', 'tasks_listed', 'tasks_of_customer', 'tasks_unsure',
        'task_attempts_stopped', 'task_attempts_run', 'task_attempts_lost', 'audit_log_agent', 'audit_log_actor'
    ] loop
        if pg_catalog.to_regclass('forebay.' || v_name) is null then
            raise exception 'expected forebay.% to be there', v_name;
        end if;
    end loop;
    foreach v_name in array array[
        'task_summary', 'task_detail', 'health_report', 'batch_summary', 'attempt_summary', 'audit_entry', 'table_size',
        'gauge', 'effect_count', 'announcement', 'task_filter', 'condition'
    ] loop
        if pg_catalog.to_regtype('forebay.' || v_name) is null then
            raise exception 'expected the type forebay.% to be there', v_name;
        end if;
    end loop;
end;
$verify$;
