"""A task has one owner: what a late report, renewal or sweep may do, and what is counted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, worker
from forebay.rows import ClaimedAttempt

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def renewed(stage: Stage, claim: ClaimedAttempt, by: str = "w") -> str:
    """Renew one lease and return its state."""
    (row,) = worker.renew_leases(stage.db, worker=by, attempt_ids=[claim.attempt_id])
    return row.state


def superseded(stage: Stage, **agent: Any) -> tuple[ClaimedAttempt, ClaimedAttempt]:
    """Return an attempt that lost its lease, and the one that runs the task since."""
    stage.agent(**agent)
    stage.enqueue()
    old = stage.claim_one(by="old")
    stage.expire(old.attempt_id)
    worker.sweep(stage.db)
    return old, stage.claim_one(by="new")


def test_le1_a_late_failure_leaves_the_new_owner_alone(stage: Stage) -> None:
    """It is recorded on its own attempt only, and the task runs on."""
    old, new = superseded(stage)
    before = stage.task(old.task_id)
    assert report.fail(stage.db, attempt_id=old.attempt_id, error={}) == "processing"
    assert stage.task(old.task_id) == before
    assert stage.attempt(old.attempt_id).error is not None
    assert renewed(stage, new, by="new") == "renewed"


def test_le1_a_late_success_is_kept_where_it_is_rejected(stage: Stage) -> None:
    """An agent with late_results = reject keeps the result on the attempt; the task runs on."""
    old, new = superseded(stage, late_results="reject")
    assert report.complete(stage.db, attempt_id=old.attempt_id, result={"n": 1}) == "processing"
    assert stage.task(old.task_id).attempt_id == new.attempt_id
    assert stage.attempt(old.attempt_id).result == {"n": 1}


def test_le1_a_late_success_counts_where_it_is_accepted(stage: Stage) -> None:
    """The work is real: the task is completed, and the other attempt is told to stop."""
    old, new = superseded(stage)
    assert report.complete(stage.db, attempt_id=old.attempt_id, result={"n": 1}) == "completed"
    assert stage.task(old.task_id).result == {"n": 1}
    assert renewed(stage, new, by="new") == "cancel_requested"
    assert report.complete(stage.db, attempt_id=new.attempt_id, result={"n": 2}) == "completed"
    assert stage.task(old.task_id).result == {"n": 1}


def test_le2_a_renewed_lease_never_gets_a_second_attempt(stage: Stage) -> None:
    """Twenty seconds of work under a lease of five, with renewals: nobody else starts it."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one()
    for _ in range(5):
        stage.clock.advance(4 * SECOND)
        assert renewed(stage, claim) == "renewed"
        assert (stage.claim(), worker.sweep(stage.db).requeued) == ([], 0)


def test_le4_a_lease_that_ran_out_is_not_renewed(stage: Stage) -> None:
    """Swept or not, taken over or not: the answer is lost, and the new owner keeps its lease."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    old = stage.claim_one(by="old")
    stage.clock.advance(5 * SECOND)
    assert renewed(stage, old, by="old") == "lost"
    assert stage.attempt(old.attempt_id).lease_expires_at == stage.clock.now()
    new = stage.claim_one(by="new")
    assert renewed(stage, old, by="old") == "lost"
    assert stage.task(new.task_id).attempt_id == new.attempt_id


def test_le4_nobody_renews_the_lease_of_another_worker(stage: Stage) -> None:
    """Not yours is lost, and nothing is extended."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one(by="owner")
    stage.clock.advance(SECOND)
    assert renewed(stage, claim, by="thief") == "lost"
    assert stage.attempt(claim.attempt_id).lease_expires_at == claim.lease_expires_at


def test_le6_the_run_of_a_lost_attempt_is_cancelled(stage: Stage) -> None:
    """The database names the run until it was seen to end, to one asker in ten seconds."""
    assert stage.clock
    stage.agent(launcher="lakeflow", lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one()
    worker.record_run(stage.db, attempt_id=claim.attempt_id, run_id="7")
    stage.clock.advance(3 * MINUTE)
    assert worker.sweep(stage.db).requeued == 1
    assert [run.run_id for run in worker.runs_to_cancel(stage.db, worker="w")] == ["7"]
    assert worker.runs_to_cancel(stage.db, worker="w") == []
    stage.clock.advance(10 * SECOND)
    run = {"life_cycle_state": "TERMINATED", "result_state": "CANCELED"}
    worker.observe_run(stage.db, attempt_id=claim.attempt_id, run=run)
    assert worker.runs_to_cancel(stage.db, worker="w") == []


def test_le6_an_external_run_is_left_to_be_adopted(stage: Stage) -> None:
    """For the grace no sweep takes it; a driver that adopts it gets the same attempt and token."""
    assert stage.clock
    stage.agent(launcher="lakeflow", lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one(by="dead")
    assert worker.adopt(stage.db, worker="heir", launchers=["lakeflow"]) == []
    stage.clock.advance(6 * SECOND)
    assert (stage.claim(), worker.sweep(stage.db).requeued) == ([], 0)
    (adopted,) = worker.adopt(stage.db, worker="heir", launchers=["lakeflow"])
    assert (adopted.attempt_id, adopted.launch_token) == (claim.attempt_id, claim.launch_token)
    assert renewed(stage, claim, by="heir") == "renewed"


def test_sw1_a_sweep_leaves_what_is_being_renewed(stage: Stage) -> None:
    """The lease looks expired while its renewal is not committed: the sweep passes it over."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one()
    stage.clock.advance(4 * SECOND)
    with stage.transaction() as owner:
        worker.renew_leases(owner, worker="w", attempt_ids=[claim.attempt_id])
        stage.clock.advance(2 * SECOND)
        session, future = stage.start(lambda s: worker.sweep(s))
        stage.wait_until_blocked(session, future)
        owner.commit()
        assert future.result().requeued == 0
    assert stage.task(claim.task_id).attempt_id == claim.attempt_id
    assert renewed(stage, claim) == "renewed"


def test_sw7_ten_sweepers_share_the_work(stage: Stage) -> None:
    """Ten sweepers at once bring back each expired task once, and none is left."""
    stage.agent()
    stage.enqueue(count=500)
    stage.expire(*[claim.attempt_id for claim in stage.claim(500)])
    outcomes = stage.at_once([lambda s: worker.sweep(s, limit=1000).requeued] * 10)
    assert sum(outcomes) + worker.sweep(stage.db).requeued == 500
    assert stage.in_use() == 0


def test_rt1_a_task_that_kills_its_worker_runs_out_of_attempts(stage: Stage) -> None:
    """The attempt is counted at the claim, so the third crash is the last."""
    stage.agent(max_attempts=3)
    (task_id,) = stage.enqueue()
    for _ in range(3):
        stage.expire(stage.claim_one().attempt_id)
        worker.sweep(stage.db)
    task = stage.task(task_id)
    assert (task.status, task.attempt_count) == ("failed", 3)
    assert "lease expired" in task.error["message"]
    assert stage.claim() == []


def test_rt2_releases_are_bounded_and_cancel_always_works(stage: Stage) -> None:
    """A release spends nothing until max_releases; a task in processing can be cancelled."""
    stage.agent(max_attempts=2, max_releases=3)
    (task_id,) = stage.enqueue()
    counts = []
    while stage.task(task_id).status == "enqueued":
        claim = stage.claim_one()
        worker.release(stage.db, attempt_id=claim.attempt_id, reason="again")
        counts.append(stage.task(task_id).attempt_count)
    assert counts == [0, 0, 0, 1, 2]
    assert stage.task(task_id).status == "failed"
    stage.enqueue()
    claim = stage.claim_one()
    operator.cancel(stage.db, task_ids=[claim.task_id])
    assert renewed(stage, claim) == "cancel_requested"
    assert stage.claim() == []


def test_rt5_no_count_overflows_the_backoff(stage: Stage) -> None:
    """Attempt 1, 17 and a million: never longer than the maximum, never an error (RT8: an hour)."""
    for count in (1, 17, 1024, 1_000_000):
        delay = stage.value("select forebay._backoff('5 seconds', '1 hour', %s)", count)
        longest = min(timedelta(hours=1), 5 * SECOND * 2 ** min(count - 1, 20))
        assert longest * 0.9 <= delay <= longest


def test_rt6_a_lost_lease_is_never_refunded(stage: Stage) -> None:
    """A task slower than its lease spends an attempt each time; only a release spends none."""
    stage.agent(max_attempts=5)
    (task_id,) = stage.enqueue()
    stage.expire(stage.claim_one().attempt_id)
    worker.sweep(stage.db)
    worker.release(stage.db, attempt_id=stage.claim_one().attempt_id, reason="stop")
    task = stage.task(task_id)
    assert (task.attempt_no, task.attempt_count, task.release_count) == (2, 1, 1)
