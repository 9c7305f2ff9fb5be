"""Faults in what refusals, usage and experience lead to."""

from __future__ import annotations

from concurrency import test_learning as learning
from concurrency import test_refusals as refusals
from concurrency.faults.fault import INTERNAL, Fault

FAULTS = [
    Fault(
        "a deferral spends an attempt",
        f"{INTERNAL}/_defer.sql",
        "attempt_count = t.attempt_count - 1,",
        "",
        refusals.test_st9_one_refusal_holds_all_and_spends_nothing,
    ),
    Fault(
        "any number of deferrals",
        f"{INTERNAL}/_may_defer.sql",
        "p_task.deferral_count < p_agent.max_deferrals",
        "true",
        refusals.test_deferrals_are_bounded_by_count,
    ),
    Fault(
        "deferrals for any time",
        f"{INTERNAL}/_defer.sql",
        "coalesce(t.deferred_since, v_now)",
        "v_now",
        refusals.test_deferrals_are_bounded_by_time,
    ),
    Fault(
        "a retry keeps the deferrals",
        f"{INTERNAL}/_retry.sql",
        "deferral_count = 0, ",
        "",
        refusals.test_an_operators_retry_defers_afresh,
    ),
    Fault(
        "a provider's pause ignored",
        f"{INTERNAL}/_get_effective.sql",
        "v_agent.paused_until := v_throttle.paused_until;",
        "",
        refusals.test_st9_one_refusal_holds_all_and_spends_nothing,
    ),
    Fault(
        "limits that never fall",
        f"{INTERNAL}/_get_effective.sql",
        "if v_throttle.share < 1 then",
        "if false then",
        refusals.test_the_limits_are_halved_and_come_back_by_a_tenth,
    ),
    Fault(
        "limits that stay low",
        f"{INTERNAL}/_share.sql",
        "+ 0.1 * floor",
        "+ 0 * floor",
        refusals.test_the_limits_are_halved_and_come_back_by_a_tenth,
    ),
    Fault(
        "every refusal halves",
        f"{INTERNAL}/_refuse.sql",
        "if p_attempt.started_at > v_refusal.lowered_at or",
        "if true or",
        refusals.test_what_was_in_flight_halves_once,
    ),
    Fault(
        "no refusal halves on the way up",
        f"{INTERNAL}/_refuse.sql",
        " or v_share > v_refusal.share",
        "",
        refusals.test_a_long_task_that_is_refused_on_the_way_up_halves_too,
    ),
    Fault(
        "halved to nothing",
        f"{INTERNAL}/_refuse.sql",
        "greatest(0.1, trunc(",
        "(trunc(",
        refusals.test_what_was_claimed_at_the_lower_limit_halves_again,
    ),
    Fault(
        "the last refusal hides the longest",
        f"{INTERNAL}/_last_refusal.sql",
        "where r.agent = v_agent and r.quota is null\n        order by r.paused_until desc,"
        " r.refusal_id desc",
        "where r.agent = v_agent and r.quota is null\n        order by r.refusal_id desc",
        refusals.test_a_shorter_wait_does_not_shorten_the_pause,
    ),
    Fault(
        "a refusal of a quota is one agent's",
        f"{INTERNAL}/_refuse.sql",
        "p_agent.agent, v_quota, v_refusal.in_flight",
        "p_agent.agent, null, v_refusal.in_flight",
        refusals.test_a_refusal_pauses_all_agents_of_its_quota_and_no_other,
    ),
    Fault(
        "a quota's refusal halves",
        f"{INTERNAL}/_refuse.sql",
        "case when v_quota is null then 0.5 else 0.9 end",
        "0.5",
        refusals.test_a_refusal_of_a_quota_lowers_the_quota_alone_by_a_tenth,
    ),
    Fault(
        "a quota's refusal lowers its agents too",
        f"{INTERNAL}/_throttle.sql",
        "        if v_other.paused_until >",
        "        v_throttle.share := least(v_throttle.share, v_other.share);\n"
        "        if v_other.paused_until >",
        refusals.test_a_refusal_of_a_quota_lowers_the_quota_alone_by_a_tenth,
    ),
    Fault(
        "refusals forgotten while they lower",
        f"{INTERNAL}/_forget_refusals.sql",
        "where forebay._share(p, p_now) = 1",
        "where p.paused_until < p_now",
        refusals.test_what_counts_no_more_is_forgotten,
    ),
    Fault(
        "a refusal concerns everybody",
        f"{INTERNAL}/_last_refusal.sql",
        "where r.quota = v_quota",
        "where r.quota is not null",
        refusals.test_a_refusal_pauses_all_agents_of_its_quota_and_no_other,
    ),
    Fault(
        "a refusal waits for claims",
        f"{INTERNAL}/_refuse.sql",
        "    insert into",
        "    perform 1 from forebay.agent_budgets as b where b.agent = p_agent.agent for"
        " update;\n    insert into",
        refusals.test_a_refusal_waits_for_no_lock_of_agents_or_quotas,
    ),
    Fault(
        "a final kind is tried again",
        f"{INTERNAL}/_after_failure.sql",
        "p_retryable and not v_policy.is_final",
        "p_retryable",
        refusals.test_a_final_kind_ends_the_task,
        ("bad_input",),
    ),
    Fault(
        "no operator ends a provider's pause",
        f"{INTERNAL}/_pause.sql",
        "perform forebay._end_refusals(v_changed, v_now);",
        "null;",
        refusals.test_an_operator_may_end_a_providers_pause,
    ),
    Fault(
        "outliers move the ratio",
        f"{INTERNAL}/_learned.sql",
        "percentile_disc(0.5) within group (order by div(l.input",
        "percentile_disc(0.95) within group (order by div(l.input",
        learning.test_outliers_do_not_move_the_ratio,
    ),
    Fault(
        "a ratio without bounds",
        f"{INTERNAL}/_learned.sql",
        "least(10000, greatest(100, v_sum))",
        "v_sum",
        learning.test_the_ratio_is_bounded,
        ((50_000, 10_000), (8333, 1667)),
    ),
    Fault(
        "nothing is ever forgotten",
        f"{INTERNAL}/_learned.sql",
        "limit 50",
        "limit 1000",
        learning.test_only_the_latest_fifty_count,
    ),
    Fault(
        "failures teach too",
        f"{INTERNAL}/_learned.sql",
        "a.status = 'succeeded' and ",
        "",
        learning.test_only_successes_of_known_use_count,
    ),
    Fault(
        "the pace counts waiting",
        f"{INTERNAL}/_learned.sql",
        " - a.held_up",
        "",
        learning.test_the_pace_is_what_it_uses_while_it_runs,
    ),
    Fault(
        "the source that knows less counts",
        f"{INTERNAL}/_usage_sources.sql",
        "count(*) filter (where (u.input_tokens is not null and u.output_tokens is not null)"
        " or u.usd is not null) desc,\n"
        "    count(*) filter (where u.input_tokens is not null and u.output_tokens is not null)"
        " desc, count(u.usd) desc, u.source",
        "u.source",
        learning.test_the_source_that_knows_more_calls_counts,
    ),
    Fault(
        "use beyond the charge waits for the end",
        f"{INTERNAL}/_settle.sql",
        "else greatest(v_attempt.charged_tokens, v_used)",
        "else v_attempt.charged_tokens",
        learning.test_sl5_use_beyond_the_charge_counts_while_the_task_runs,
    ),
    Fault(
        "a running task gets its charge back",
        f"{INTERNAL}/_settle.sql",
        "when v_attempt.finished_at is not null and v_attempt.is_usage_known",
        "when v_attempt.is_usage_known",
        learning.test_sl5_a_crash_keeps_what_was_charged_or_used,
    ),
]
