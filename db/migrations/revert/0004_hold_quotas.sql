-- Drop what 0004 added. The functions that use it must be gone, and those of the release before applied again after it.

drop type
forebay.task_detail, forebay.agent_state, forebay.quota_state, forebay.task_explanation, forebay.customer_state,
forebay.price,
forebay.spend_cap, forebay.call_verdict, forebay.call_permit, forebay.learned, forebay.throttle, forebay.quota_room,
forebay.opened_line, forebay.lined_up, forebay.fit, forebay.expected_use;
drop table
forebay.spend_lifts, forebay.daily_spend, forebay.spend_entries, forebay.prices, forebay.customer_turns,
forebay.customers, forebay.error_policies, forebay.refusals, forebay.attempt_calls, forebay.quota_settlements,
forebay.quota_slots, forebay.quota_limits, forebay.quotas;
alter table forebay.attempt_usage drop column pages, drop column usd, drop column counted_usd;
alter table forebay.agent_budgets drop column turn;
drop index forebay.task_attempts_asking, forebay.task_attempts_stopping,
forebay.task_attempts_open_of_customer, forebay.task_attempts_untold,
forebay.task_attempts_untold_of_customer,
forebay.task_attempts_measured, forebay.task_attempts_started, forebay.tasks_shared;
alter table forebay.task_attempts
drop column customer, drop column expected_input_tokens, drop column expected_output_tokens, drop column expected_calls,
drop column expected_usd, drop column used_input_tokens, drop column used_output_tokens, drop column used_calls,
drop column is_usage_known, drop column cost_usd, drop column is_cost_known, drop column asks_first,
drop column call_asked_at,
drop column call_input_tokens, drop column call_output_tokens, drop column call_quota, drop column call_holds,
drop column call_free_at, drop column call_wait_until,
drop column held_up;
alter table forebay.task_attempts set (fillfactor = 70);
alter table forebay.tasks drop column deferral_count, drop column deferred_since, drop column is_shared;
alter table forebay.agents
drop column max_waiting, drop column aging, drop column reserve_after, drop column is_fair_by_customer,
drop column max_usd_per_day, drop column max_deferrals, drop column max_deferral_time, drop column quotas;
create type forebay.task_explanation as (
    task_id bigint, status text, reason text, explanation text, waiting_until timestamptz, ahead bigint
);
create type forebay.agent_state as (
    agent text, launcher text, state text, waiting bigint, delayed bigint, in_use bigint, max_concurrent_tasks integer,
    max_tpm bigint, token_level numeric, token_burst numeric, in_flight_tokens bigint, max_rpm integer,
    request_level numeric, request_burst numeric, paused_until timestamptz, pause_reason text,
    oldest_waiting_at timestamptz, job_id bigint, entry_point text, lease interval, timeout interval,
    max_attempts integer
);
create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, confidence numeric,
    error jsonb, reprocess_of bigint, reprocessed_by bigint[], created_at timestamptz, finished_at timestamptz,
    attempts jsonb, usage jsonb, audit jsonb
);
