-- Drop what 0007 added. The functions that use it must be gone, and those of the release before applied again after it.

drop type
forebay.task_summary, forebay.task_detail, forebay.health_report, forebay.batch_summary, forebay.attempt_summary,
forebay.audit_entry, forebay.table_size, forebay.gauge, forebay.effect_count, forebay.announcement,
forebay.task_filter, forebay.condition;
drop table forebay.announcements, forebay.announcement_marks;
drop index
forebay.tasks_listed, forebay.tasks_of_customer, forebay.tasks_unsure, forebay.task_attempts_stopped,
forebay.task_attempts_run, forebay.task_attempts_lost, forebay.audit_log_agent, forebay.audit_log_actor;
comment on type forebay.task_effect is
'An act on tasks: the status after it; effect is cancelled, retried, reprioritized, none or unknown.';
create type forebay.task_summary as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, locked_by text,
    available_at timestamptz, attempt_count integer, attempt_id bigint, progress_done integer, progress_total integer,
    confidence numeric, error_kind text, created_at timestamptz, finished_at timestamptz, reprocess_of bigint
);
create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, deferral_count integer,
    deferred_since timestamptz, confidence numeric, error jsonb, reprocess_of bigint, reprocessed_by bigint[],
    created_at timestamptz, finished_at timestamptz, attempts jsonb, usage jsonb, audit jsonb
);
create type forebay.health_report as (
    schema_version text, installation_id uuid, is_branch boolean, may_dispatch boolean, dispatchers jsonb,
    listeners integer, last_claim_at timestamptz, last_sweep_at timestamptz, oldest_waiting_at timestamptz,
    expired_leases bigint, oldest_transaction_at timestamptz, notify_queue_usage double precision
);
