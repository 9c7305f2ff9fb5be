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
