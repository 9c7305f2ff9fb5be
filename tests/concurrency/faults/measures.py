"""Faults in totals, rollups and compute costs."""

from __future__ import annotations

from concurrency import test_rollups as rollups
from concurrency.faults.fault import INTERNAL, Fault

FAULTS = [
    Fault(
        "usage locks the attempt before its task",
        "functions/agent/report_usage.sql",
        "v_attempt := (forebay._lock_attempt(p_attempt_id)).attempt;",
        "select a.* into v_attempt from forebay.task_attempts as a"
        " where a.attempt_id = p_attempt_id for no key update;",
        rollups.test_what_an_attempt_used_waits_for_its_task_holding_nothing,
        (rollups.usage_of,),
    ),
    Fault(
        "compute costs lock attempts alone",
        f"{INTERNAL}/_record_machines.sql",
        "array(select a.task_id from forebay.task_attempts as a"
        " where a.attempt_id = any(v_attempts)), v_attempts",
        "'{}', v_attempts",
        rollups.test_what_an_attempt_used_waits_for_its_task_holding_nothing,
        (rollups.cost_of,),
    ),
    Fault(
        "loads of a source do not wait for each other",
        "functions/upkeep/record_compute_usage.sql",
        "on conflict (source) do update\n    set as_of = greatest("
        "case when s.as_of is not null then least(s.as_of, forebay._now()) end, excluded.as_of)",
        "on conflict (source) do nothing",
        rollups.test_a_record_that_moves_twice_at_once_costs_one_attempt,
    ),
    Fault(
        "an attempt that loses its record keeps the cost",
        f"{INTERNAL}/_record_machines.sql",
        "inner join forebay.compute_usage as c on c.source = r.source",
        "inner join forebay.compute_usage as c on false and c.source = r.source",
        rollups.test_a_record_that_moves_twice_at_once_costs_one_attempt,
    ),
    Fault(
        "the end of an attempt adds no time",
        "triggers/task_attempts.sql",
        "+ coalesce(new.finished_at - new.started_at, interval '0')",
        "",
        rollups.test_usage_of_many_attempts_of_a_task_at_once_is_all_added_up,
    ),
    Fault(
        "folds wait for each other",
        f"{INTERNAL}/_fold_changes.sql",
        "if not pg_try_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0)) then",
        "perform pg_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0)); if false then",
        rollups.test_a_fold_that_is_open_holds_nobody_up,
    ),
    Fault(
        "a fold leaves the changes",
        f"{INTERNAL}/_fold_changes.sql",
        "delete from forebay.task_changes as c\n"
        "        where c.change_id in (select o.change_id from forebay.task_changes as o"
        " order by o.change_id limit 100000)\n"
        "        returning c.*",
        "select c.* from forebay.task_changes as c",
        rollups.test_a_reader_sees_each_change_once_while_it_is_folded,
    ),
    Fault(
        "a fold forgets what it had",
        f"{INTERNAL}/_upsert_rollups.sql",
        "tasks = r.tasks + excluded.tasks,",
        "tasks = excluded.tasks,",
        rollups.test_counts_and_sums_are_exact_in_any_range_and_filter,
    ),
    Fault(
        "nobody folds",
        "functions/worker/sweep.sql",
        "perform forebay._fold_changes(5000);",
        "",
        rollups.test_a_sweep_folds_when_many_changes_wait,
    ),
    Fault(
        "a change counts only what a task is",
        "triggers/tasks.sql",
        "old.status, -1, -old.ended_attempts,",
        "old.status, 0, -old.ended_attempts,",
        rollups.test_a_reader_sees_each_change_once_while_it_is_folded,
    ),
    Fault(
        "what waits for the rollups is not read",
        f"{INTERNAL}/_cells.sql",
        "where s.minutes > 0\n",
        "where s.minutes < 0\n",
        rollups.test_counts_and_sums_are_exact_in_any_range_and_filter,
    ),
    Fault(
        "what waits counts beside the tasks themselves",
        f"{INTERNAL}/_cells.sql",
        "where s.minutes > 0\n",
        "where s.minutes >= 0\n",
        rollups.test_counts_and_sums_are_exact_in_any_range_and_filter,
    ),
    Fault(
        "a slot that began before the range counts",
        f"{INTERNAL}/_slots.sql",
        "if v_first < p_from then",
        "if false then",
        rollups.test_counts_and_sums_are_exact_in_any_range_and_filter,
    ),
    Fault(
        "the end of a range is cut off",
        f"{INTERNAL}/_slots.sql",
        "if v_to < v_end then",
        "if false then",
        rollups.test_counts_and_sums_are_exact_in_any_range_and_filter,
    ),
    Fault(
        "times are of the lower end of their bucket",
        f"{INTERNAL}/_time_at.sql",
        "p_place + 0.5",
        "p_place",
        rollups.test_medians_by_buckets_are_at_most_2_5_percent_off,
        (40,),
    ),
    Fault(
        "of two in the middle a histogram takes the upper one",
        f"{INTERNAL}/_histogram_marks.sql",
        "r.upto >= r.tasks * 0.5",
        "r.upto > r.tasks * 0.5",
        rollups.test_medians_by_buckets_are_at_most_2_5_percent_off,
        (2,),
    ),
    Fault(
        "of two in the middle the tasks have the mean",
        f"{INTERNAL}/_exact_times.sql",
        "percentile_disc(0.5)",
        "percentile_cont(0.5)",
        rollups.test_medians_by_buckets_are_at_most_2_5_percent_off,
        (2,),
    ),
    Fault(
        "an attempt that succeeds late ended when it was lost",
        f"{INTERNAL}/_report.sql",
        "then greatest(v_now, a.started_at)",
        "then coalesce(a.finished_at, greatest(v_now, a.started_at))",
        rollups.test_an_attempt_that_succeeds_late_ran_until_then,
    ),
    Fault(
        "a cost that was estimated by another end stays",
        f"{INTERNAL}/_report.sql",
        "perform forebay._count_usage(p_attempt_id);",
        "null;",
        rollups.test_an_attempt_that_succeeds_late_ran_until_then,
    ),
    Fault(
        "a run that becomes known late has cost nothing",
        "functions/worker/record_run.sql",
        "perform forebay._count_usage(p_attempt_id);",
        "null;",
        rollups.test_a_run_that_is_told_while_its_attempt_is_handed_back_may_cost,
    ),
    Fault(
        "a run is recorded by how its attempt was before",
        "functions/worker/record_run.sql",
        "v_attempt := (forebay._lock_attempt(p_attempt_id)).attempt;",
        "v_attempt := forebay._get_attempt(p_attempt_id);",
        rollups.test_a_run_that_is_told_while_its_attempt_is_handed_back_may_cost,
    ),
    Fault(
        "an estimate by another end counts",
        f"{INTERNAL}/_compute_source.sql",
        "coalesce(u.ended_at >= a.finished_at, true)",
        "true",
        rollups.test_an_estimate_by_an_end_that_moves_meanwhile_does_not_count,
    ),
    Fault(
        "a rebuild lets tasks change meanwhile",
        f"{INTERNAL}/_rebuild_rollups.sql",
        "lock table forebay.tasks in share row exclusive mode;",
        "",
        rollups.test_the_rollups_are_made_of_tasks_that_stand_still,
    ),
    Fault(
        "a rebuild steps over a task",
        f"{INTERNAL}/_rebuild_rollups.sql",
        "v_first := v_first + v_at_once;",
        "v_first := v_first + v_at_once + 1;",
        rollups.test_a_rebuild_counts_each_task_once_however_their_numbers_lie,
    ),
    Fault(
        "a rebuild counts a task twice",
        f"{INTERNAL}/_rebuild_rollups.sql",
        "t.task_id < v_first + v_at_once",
        "t.task_id <= v_first + v_at_once",
        rollups.test_a_rebuild_counts_each_task_once_however_their_numbers_lie,
    ),
]
