"""Faults in acts on many tasks, and in what is announced."""

from __future__ import annotations

from concurrency import test_acts as acts
from concurrency import test_announcements as announcements
from concurrency import test_lists as lists
from concurrency.faults.fault import INTERNAL, Fault

ACT = "functions/operator/act_on_matching.sql"
COLLECT = "functions/upkeep/collect_announcements.sql"
DONE = f"{INTERNAL}/_batches_done.sql"
NOTE = f"{INTERNAL}/_note_announcements.sql"
RECOUNT = (
    "where t.task_id = any(v_ids) and forebay._passes(t, v_filter)",
    "where t.task_id = any(v_ids)",
)

FAULTS = [
    Fault(
        "what matches is not asked again",
        ACT,
        *RECOUNT,
        acts.test_an_act_on_waiting_tasks_spares_one_that_is_claimed_meanwhile,
        ("cancel",),
    ),
    Fault(
        "an act on many locks nothing",
        ACT,
        "perform forebay._lock_tasks(v_ids);",
        "",
        acts.test_an_act_on_waiting_tasks_spares_one_that_is_claimed_meanwhile,
        ("reprioritize",),
    ),
    Fault(
        "two retries of many",
        ACT,
        *RECOUNT,
        acts.test_two_retries_of_the_same_tasks_are_one,
    ),
    Fault(
        "conditions are noted by all at once",
        NOTE,
        "not pg_try_advisory_xact_lock(hashtextextended('forebay.announcements', 0))",
        "false",
        announcements.test_a_collection_that_is_open_holds_nobody_up,
    ),
    Fault(
        "nothing is leased",
        COLLECT,
        "next_try_at = v_now + interval '1 minute'",
        "next_try_at = v_now",
        announcements.test_orchestrators_that_collect_at_once_share_what_there_is,
    ),
    Fault(
        "collections wait for each other",
        COLLECT,
        "for no key update skip locked",
        "for no key update",
        announcements.test_what_is_being_handed_out_holds_nobody_up,
    ),
    Fault(
        "a collection does not lock what it hands out",
        COLLECT,
        "            for no key update skip locked\n",
        "",
        announcements.test_what_is_being_handed_out_holds_nobody_up,
    ),
    Fault(
        "what is handed out is lost with its taker",
        COLLECT,
        "next_try_at = v_now + interval '1 minute'",
        "next_try_at = v_now + interval '1 day'",
        announcements.test_a_collection_that_was_lost_comes_again,
    ),
    Fault(
        "a look is complete though transactions are open",
        DONE,
        "where not m.is_complete and m.next_xid <= pg_snapshot_xmin(v_snapshot)",
        "where not m.is_complete",
        announcements.test_a_batch_whose_end_is_committed_late_is_told,
    ),
    Fault(
        "a look is complete at once",
        DONE,
        "insert into forebay.announcement_marks (looked_at, next_xid)"
        " values (p_now, pg_snapshot_xmax(v_snapshot))",
        "insert into forebay.announcement_marks (looked_at, next_xid)"
        " values (p_now, pg_snapshot_xmin(v_snapshot))",
        announcements.test_a_batch_whose_end_is_committed_late_is_told,
    ),
    Fault(
        "looks are never forgotten",
        DONE,
        "where m.looked_at < (select max",
        "where false and m.looked_at < (select max",
        announcements.test_looks_that_are_over_are_forgotten,
    ),
    Fault(
        "a customer's tasks are asked for their search again",
        f"{INTERNAL}/_newest_of_customers.sql",
        "v_rest.is_search := false;",
        "",
        lists.test_ui9_a_page_does_not_read_the_history,
        ("",),
    ),
]
