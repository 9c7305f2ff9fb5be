"""Leases: a worker that lost one changes nothing, and none outlives its time (LE, LJ)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import viewer, worker
from forebay.rows import ClaimedAttempt

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


def two_claims(stage: Stage) -> tuple[ClaimedAttempt, ClaimedAttempt]:
    """Let worker A lose its lease, and worker B claim the same task; return both claims."""
    stage.enqueue()
    first = stage.claim_one(by="A")
    stage.expire(first.attempt_id)
    worker.sweep(stage.db)
    second = stage.claim_one(by="B")
    assert second.task_id == first.task_id
    return first, second


LATE: dict[str, Callable[[Stage, int], str]] = {
    "complete": lambda s, id: report.complete(s.db, attempt_id=id, result={"by": "A"}),
    "fail": lambda s, id: report.fail(s.db, attempt_id=id, error={"kind": "timeout"}),
    "fail for good": lambda s, id: report.fail(s.db, attempt_id=id, error={}, retryable=False),
    "release": lambda s, id: worker.release(s.db, attempt_id=id, reason="stop"),
}


@pytest.mark.parametrize("late", LATE)
def test_le1_a_late_report_leaves_the_new_attempt_alone(stage: Stage, late: str) -> None:
    """Where late results are rejected A's report is answered, kept on A's attempt, and no more."""
    stage.agent(late_results="reject")
    first, second = two_claims(stage)
    task, attempt = stage.task(first.task_id), stage.attempt(second.attempt_id)
    assert LATE[late](stage, first.attempt_id) == "processing"
    assert stage.task(first.task_id) == task
    assert stage.attempt(second.attempt_id) == attempt
    assert stage.attempt(first.attempt_id).status == "lost"
    assert (
        report.complete(stage.db, attempt_id=second.attempt_id, result={"by": "B"}) == "completed"
    )
    assert stage.task(first.task_id).result == {"by": "B"}
    assert stage.attempt(first.attempt_id).result == ({"by": "A"} if late == "complete" else None)


def test_le4_a_lease_is_renewed_before_its_end_only(stage: Stage) -> None:
    """At the last microsecond it is renewed, at its end it is lost, though nobody swept it."""
    stage.agent(lease=MINUTE)
    end = stage.clock.now() + MINUTE
    stage.enqueue(count=2)
    in_time, late = stage.claim(2)

    def renew(attempt_id: int) -> str:
        (told,) = worker.renew_leases(stage.db, worker="w", attempt_ids=[attempt_id])
        return told.state

    stage.clock.set(end - timedelta(microseconds=1))
    assert renew(in_time.attempt_id) == "renewed"
    stage.clock.set(end)
    assert renew(late.attempt_id) == "lost"
    assert stage.attempt(late.attempt_id).lease_expires_at == end


def test_le7_each_attempt_is_judged_by_its_own_lease(stage: Stage) -> None:
    """A lease of two hours outlives one of ten minutes, and later changes of the agent."""
    assert stage.clock
    stage.agent("short", lease=10 * MINUTE)
    stage.agent("long", lease=120 * MINUTE)
    stage.enqueue("short")
    stage.enqueue("long")
    short, long = stage.claim_one("short"), stage.claim_one("long")
    stage.agent("long", lease=SECOND)
    stage.clock.advance(60 * MINUTE)
    assert worker.sweep(stage.db).requeued == 1
    assert stage.attempt(short.attempt_id).status == "lost"
    assert stage.attempt(long.attempt_id).finished_at is None
    stage.clock.advance(60 * MINUTE)
    assert worker.sweep(stage.db).requeued == 1


def overdue(stage: Stage) -> int:
    """Count the tasks that are processing although their lease ended ten minutes ago."""
    return stage.value(
        "select count(*) from forebay.tasks as t join forebay.task_attempts as a using (attempt_id)"
        " where t.status = 'processing'"
        " and a.lease_expires_at < forebay._now() - interval '10 minutes'"
    )


def test_lj4_nothing_is_processing_long_after_its_lease(stage: Stage) -> None:
    """Under every launcher a sweep gives back what nobody renews, and health counts it before."""
    assert stage.clock
    for launcher in ("pull", "local", "lakeflow"):
        stage.agent(launcher, launcher=launcher, lease=MINUTE, entry_point="e", job_id=1)
        stage.enqueue(launcher, 3)
        assert len(stage.claim(3, launcher)) == 3
    stage.clock.advance(12 * MINUTE)
    assert overdue(stage) == viewer.health(stage.db).expired_leases == 9
    assert worker.sweep(stage.db).requeued == 9
    assert overdue(stage) == viewer.health(stage.db).expired_leases == 0


def test_lj4_a_run_that_never_ends_is_bounded_by_its_deadline(stage: Stage) -> None:
    """A run that is seen alive for ever keeps its task until the agent's timeout, not longer."""
    assert stage.clock
    definition: dict[str, Any] = {"lease": 10 * MINUTE, "timeout": 60 * MINUTE, "max_attempts": 1}
    stage.agent(launcher="lakeflow", job_id=1, **definition)
    stage.enqueue()
    claim = stage.claim_one()
    for _ in range(11):
        stage.clock.advance(5 * MINUTE)
        run = {"life_cycle_state": "RUNNING"}
        assert worker.observe_run(stage.db, attempt_id=claim.attempt_id, run=run) == "renew"
        assert worker.sweep(stage.db).failed == 0
    stage.clock.advance(5 * MINUTE)
    assert worker.sweep(stage.db).failed == 1
    assert stage.task(claim.task_id).error["kind"] == "timeout"
