"""Faults in claims, leases, reports, notices and rights."""

from __future__ import annotations

from concurrency import test_budgets as budgets
from concurrency import test_claims as claims
from concurrency import test_deadlocks as deadlocks
from concurrency import test_locks as locks
from concurrency import test_notify as notify
from concurrency import test_ownership as ownership
from concurrency import test_retries as retries
from concurrency import test_webhooks as webhooks
from concurrency.faults.fault import INTERNAL, Fault

FAULTS = [
    Fault(
        "no agent lock",
        f"{INTERNAL}/_open_line.sql",
        "perform forebay._lock_agent(p_agent, p_waits);",
        "",
        claims.test_oa1_the_count_sees_the_claim_before,
    ),
    Fault(
        "the count in the locking statement",
        f"{INTERNAL}/_open_line.sql",
        "    volatile\n",
        "    stable\n",
        claims.test_oa1_the_count_sees_the_claim_before,
    ),
    Fault(
        "no fence",
        f"{INTERNAL}/_report_effect.sql",
        "when p_is_current then case",
        "when p_is_current or p_task_status = 'processing' then case",
        ownership.test_le1_a_late_failure_leaves_the_new_owner_alone,
    ),
    Fault(
        "sweep without a recheck",
        f"{INTERNAL}/_end_expired.sql",
        "            and a.finished_at is null and forebay._is_expired("
        "a, v_now, v_limits.adoption_grace, v_limits.report_grace)\n"
        "        order by a.attempt_id\n        for no key update skip locked",
        "        order by a.attempt_id",
        ownership.test_sw1_a_sweep_leaves_what_is_being_renewed,
    ),
    Fault(
        "renewal of an expired lease",
        "functions/worker/renew_leases.sql",
        "and a.finished_at is null and a.lease_expires_at > v_now and",
        "and a.finished_at is null and",
        ownership.test_le4_a_lease_that_ran_out_is_not_renewed,
    ),
    Fault(
        "renewal by another worker",
        "functions/worker/renew_leases.sql",
        "        and a.worker = v_worker and",
        "        and",
        ownership.test_le4_nobody_renews_the_lease_of_another_worker,
    ),
    Fault(
        "nothing is settled",
        f"{INTERNAL}/_settle.sql",
        "if v_attempt.charged_tokens is null or v_actual = v_attempt.charged_tokens then",
        "if true then",
        budgets.test_sl5_the_estimate_becomes_the_actual,
        (50, 79_950),
    ),
    Fault(
        "settled twice",
        f"{INTERNAL}/_settle.sql",
        "set charged_tokens = v_actual where",
        "set charged_tokens = a.charged_tokens where",
        budgets.test_sl5_the_estimate_becomes_the_actual,
        (50, 79_950),
    ),
    Fault(
        "no clamp at the burst",
        f"{INTERNAL}/_refill.sql",
        "select least(p_burst, p_level + ",
        "select (p_level + ",
        budgets.test_sl5_a_crash_keeps_the_estimate,
    ),
    Fault(
        "no refill",
        f"{INTERNAL}/_refill.sql",
        "* p_per_minute / 60",
        "* 0",
        budgets.test_sl5_the_bucket_refills_by_the_clock_up_to_the_burst,
    ),
    Fault(
        "oversize never admitted",
        f"{INTERNAL}/_fits.sql",
        "(p_is_first and p_tokens > p_burst and p_level >= p_burst)",
        "false",
        budgets.test_st3_a_task_above_the_burst_goes_alone_when_the_bucket_is_full,
    ),
    Fault(
        "oversize always admitted",
        f"{INTERNAL}/_fits.sql",
        "p_tokens > p_burst and p_level >= p_burst",
        "p_tokens > p_burst",
        budgets.test_st3_a_task_above_the_burst_goes_alone_when_the_bucket_is_full,
    ),
    Fault(
        "priority ignored",
        f"{INTERNAL}/_line.sql",
        "            order by t.priority desc, t.created_at, t.task_id\n            limit p_limit\n"
        "            for no key",
        "            order by t.created_at, t.task_id\n            limit p_limit\n           "
        " for no key",
        budgets.test_st6_the_freed_slot_goes_to_the_most_urgent,
    ),
    Fault(
        "age ignored",
        f"{INTERNAL}/_line.sql",
        "            order by t.priority desc, t.created_at, t.task_id\n            limit p_limit\n"
        "            for no key",
        "            order by t.priority desc, t.task_id desc\n            limit p_limit\n     "
        "       for no key",
        budgets.test_st6_the_freed_slot_goes_to_the_most_urgent,
    ),
    Fault(
        "a limit of 0 ignored",
        f"{INTERNAL}/_room.sql",
        "p_agent.max_tpm = 0 or ",
        "",
        claims.test_a_limit_of_zero_admits_nothing,
    ),
    Fault(
        "a release spends",
        f"{INTERNAL}/_give_back.sql",
        "t.attempt_count - p_is_unspent::integer",
        "t.attempt_count",
        ownership.test_rt2_releases_are_bounded_and_cancel_always_works,
    ),
    Fault(
        "a retry keeps the spent count",
        f"{INTERNAL}/_retry.sql",
        "attempt_count = 0, ",
        "",
        retries.test_rt9_an_operators_retry_starts_afresh,
        ("failed",),
    ),
    Fault(
        "reject ignored",
        f"{INTERNAL}/_report_effect.sql",
        "when p_late_results = 'accept' then 'completed'",
        "when true then 'completed'",
        ownership.test_le1_a_late_success_is_kept_where_it_is_rejected,
    ),
    Fault(
        "a callback names another task's attempt",
        "functions/agent/callback.sql",
        "a.attempt_id = v_attempt_id and a.task_id = v_task_id",
        "a.attempt_id = v_attempt_id",
        webhooks.test_wh2_a_callback_cannot_name_another_tasks_attempt,
    ),
    Fault(
        "empty polls notify",
        "triggers/tasks.sql",
        "    if not found then\n",
        "    if false then\n",
        notify.test_nt1_what_changes_nothing_notifies_nobody,
    ),
    Fault(
        "no transition guard",
        "triggers/tasks.sql",
        "    old.status <> new.status\n    and (old.status, new.status) not in (",
        "    false\n    and (old.status, new.status) not in (",
        claims.test_oa10_a_transition_that_does_not_exist_is_refused,
        (("failed", "completed"),),
    ),
    Fault(
        "everybody may call everything",
        "grants.sql",
        "revoke all on all functions in schema forebay from public;",
        "grant execute on all functions in schema forebay to public;",
        claims.test_oa10_each_role_calls_its_own_functions_only,
    ),
    Fault(
        "tables open to a role",
        "grants.sql",
        "revoke all on all tables in schema forebay from public;",
        "grant update on all tables in schema forebay to forebay_worker;",
        claims.test_oa10_no_role_touches_a_table,
    ),
    Fault(
        "security invoker",
        "functions/agent/complete.sql",
        "security definer",
        "security invoker",
        ownership.test_le1_a_late_success_counts_where_it_is_accepted,
    ),
    Fault(
        "usage counted twice",
        f"{INTERNAL}/_record_usage.sql",
        "v_call.attempt_id, v_call.source, v_call.call_id,",
        "v_call.attempt_id, v_call.source, v_call.call_id || gen_random_uuid(),",
        webhooks.test_wh2_usage_is_counted_once,
    ),
    Fault(
        "keys in the callers' order",
        "functions/submitter/enqueue_many.sql",
        'order by r.idempotency_key collate "C" nulls first, r.task_id',
        "order by r.task_id",
        deadlocks.test_keys_in_another_order_wait_their_turn,
    ),
    Fault(
        "tasks locked in no common order",
        f"{INTERNAL}/_lock_tasks.sql",
        "    where t.task_id = any(p_task_ids)\n    order by t.task_id\n",
        "    where t.task_id = any(p_task_ids)"
        " and pg_sleep(0.0002) is not null\n    order by random()\n",
        deadlocks.test_dl1_a_cancel_in_another_order_waits_its_turn,
    ),
    Fault(
        "a limit of 1 needs a sweeper",
        f"{INTERNAL}/_open_line.sql",
        "v_swept := forebay._end_expired(p_agent, 1000);",
        "v_swept := (0, 0, 0);",
        budgets.test_sl2_a_limit_of_one_needs_no_sweeper,
    ),
    Fault(
        "adoption without a grace",
        f"{INTERNAL}/_is_expired.sql",
        "then p_adoption_grace else",
        "then interval '0' else",
        ownership.test_le6_an_external_run_is_left_to_be_adopted,
    ),
    Fault(
        "a claim locks for update",
        f"{INTERNAL}/_line.sql",
        "for no key update skip locked",
        "for update skip locked",
        locks.test_pf5_a_new_child_row_does_not_hide_its_task,
    ),
]
