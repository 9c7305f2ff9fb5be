"""Faults in prices, spending and caps."""

from __future__ import annotations

from concurrency import test_prices as prices
from concurrency import test_spending as spending
from concurrency.faults.fault import INTERNAL, Fault

FAULTS = [
    Fault(
        "no lock on a capped customer",
        f"{INTERNAL}/_claim.sql",
        "perform forebay._lock_customers(v_customers, p_waits);",
        "",
        spending.test_sixteen_sessions_never_pass_a_customers_cap,
        (1,),
    ),
    Fault(
        "a claim that does not wait locks no customer",
        f"{INTERNAL}/_lock_customers.sql",
        "for no key update nowait",
        "",
        spending.test_sixteen_sessions_never_pass_a_customers_cap,
        (4,),
    ),
    Fault(
        "an agent with a cap alone takes no lock",
        f"{INTERNAL}/_is_limited.sql",
        "or p_agent.max_usd_per_day is not null",
        "",
        spending.test_sixteen_sessions_never_pass_an_agents_cap,
        ({},),
    ),
    Fault(
        "folds wait for each other",
        f"{INTERNAL}/_fold_spend.sql",
        "not pg_try_advisory_xact_lock(hashtextextended('forebay.daily_spend', 0))",
        "false",
        spending.test_a_fold_that_is_open_holds_nobody_up,
    ),
    Fault(
        "a fold forgets what it had",
        f"{INTERNAL}/_fold_spend.sql",
        "set usd = d.usd + excluded.usd",
        "set usd = excluded.usd",
        spending.test_a_fold_neither_loses_nor_doubles,
    ),
    Fault(
        "a fold leaves the entries",
        f"{INTERNAL}/_fold_spend.sql",
        "delete from forebay.spend_entries as e returning e.*",
        "select e.* from forebay.spend_entries as e",
        spending.test_a_fold_neither_loses_nor_doubles,
    ),
    Fault(
        "cached tokens are paid twice",
        f"{INTERNAL}/_price_call.sql",
        "(p_call.input_tokens - v_cached)",
        "p_call.input_tokens",
        prices.test_co5_cached_tokens_are_priced_apart,
    ),
    Fault(
        "the traces always count",
        f"{INTERNAL}/_spend.sql",
        "v_source text := forebay._usage_source(p_attempt_id)",
        "v_source text := 'trace'",
        prices.test_co7_the_more_complete_source_counts,
    ),
    Fault(
        "the session's day",
        f"{INTERNAL}/_utc_day.sql",
        "(p_at at time zone 'UTC')::date",
        "p_at::date",
        spending.test_the_day_is_utc_whatever_the_sessions_zone,
        ("Pacific/Auckland",),
    ),
    Fault(
        "what nobody told is free",
        f"{INTERNAL}/_projected_usd.sql",
        "a.finished_at is not null and a.expected_usd > 0",
        "false",
        spending.test_co3_what_nobody_told_counts_as_expected,
        ("completed",),
    ),
    Fault(
        "a crash is taken at its word",
        f"{INTERNAL}/_projected_usd.sql",
        "(not a.is_cost_known or a.reported_at is null)",
        "not a.is_cost_known",
        spending.test_co3_what_nobody_told_counts_as_expected,
        ("lost",),
    ),
    Fault(
        "one known cost speaks for all calls",
        f"{INTERNAL}/_spend.sql",
        "coalesce(bool_and(",
        "coalesce(bool_or(",
        spending.test_co3_one_known_call_does_not_make_the_others_free,
    ),
    Fault(
        "what is half known teaches a price",
        f"{INTERNAL}/_learned.sql",
        "case when a.is_cost_known then a.cost_usd end",
        "a.cost_usd",
        spending.test_co3_a_price_is_learned_where_all_of_the_cost_is_known,
    ),
    Fault(
        "a refusal is paid for",
        f"{INTERNAL}/_after_failure.sql",
        "if not v_policy.spends_attempt then",
        "if false then",
        spending.test_what_ended_for_nothing_costs_nothing,
        ("last refusal",),
    ),
]
