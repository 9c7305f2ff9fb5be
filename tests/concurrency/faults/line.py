"""Faults in who is next: what fits, what is passed, and what a claim pays."""

from __future__ import annotations

from concurrency import test_budgets as budgets
from concurrency import test_learning as learning
from concurrency import test_line as line
from concurrency.faults.fault import INTERNAL, Fault

FAULTS = [
    Fault(
        "no reservation",
        f"{INTERNAL}/_fitting.sql",
        "v_stop.reason <> 'spend_cap' and v_task.waited >= p_agent.reserve_after",
        "false",
        budgets.test_st4_nothing_overtakes_a_heavy_head_that_is_reserved_for,
    ),
    Fault(
        "nobody is ever passed",
        f"{INTERNAL}/_fitting.sql",
        "v_stop.reason <> 'spend_cap' and v_task.waited >= p_agent.reserve_after",
        "true",
        budgets.test_st4_light_tasks_pass_a_heavy_one_only_so_long,
    ),
    Fault(
        "what was admitted is forgotten",
        f"{INTERNAL}/_fitting.sql",
        "v_level := v_level - (v_task.uses).input_tokens - (v_task.uses).output_tokens;",
        "",
        budgets.test_st4_what_fits_is_taken_within_one_claim,
    ),
    Fault(
        "a claim charges the estimate",
        f"{INTERNAL}/_lined_up.sql",
        "when (p_learned).samples is not null then",
        "when false then",
        learning.test_sl5_a_claim_charges_what_is_expected,
    ),
    Fault(
        "no lock at the end of the line",
        f"{INTERNAL}/_lock_end_of_line.sql",
        "    perform pg_advisory_xact_lock(",
        "    perform (",
        line.test_sixteen_sessions_fill_the_line_exactly,
    ),
    Fault(
        "who enqueues takes no part in the line's lock",
        "functions/submitter/enqueue_many.sql",
        "perform forebay._join_line(array[p_agent]);",
        "",
        line.test_a_line_that_gets_a_limit_misses_no_open_enqueue,
    ),
    Fault(
        "an old snapshot may join a line",
        f"{INTERNAL}/_join_line.sql",
        "<> 'read committed'",
        "= 'none'",
        line.test_no_task_joins_a_line_that_is_not_kept_that_way_any_more,
        ("enqueue",),
    ),
    Fault(
        "nothing ages",
        f"{INTERNAL}/_effective_priority.sql",
        "p_task.priority + case",
        "p_task.priority + 0 * case",
        line.test_st5_aging_bounds_the_wait_under_urgent_work,
    ),
    Fault(
        "no turns",
        f"{INTERNAL}/_line.sql",
        "p_agent.aging is not null or p_agent.is_fair_by_customer",
        "p_agent.aging is not null",
        line.test_a_customer_with_ten_thousand_tasks_holds_back_nobody,
    ),
    Fault(
        "turns that nobody counts",
        f"{INTERNAL}/_admit.sql",
        "if p_agent.is_fair_by_customer then",
        "if false then",
        line.test_a_customer_with_ten_thousand_tasks_holds_back_nobody,
    ),
    Fault(
        "who was away has saved up",
        f"{INTERNAL}/_take_turns.sql",
        "if v_new > v_old then",
        "if false then",
        line.test_a_customer_with_ten_thousand_tasks_holds_back_nobody,
    ),
]
