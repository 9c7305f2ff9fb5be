"""Clocks: the database's alone decides, read after the locks are held, whatever zone it is (TM)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from concurrency.stage import Act, Stage, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, submitter, viewer, worker

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
ZONES = ["UTC", "Asia/Kolkata", "America/New_York"]
CLOCKS_GO_FORWARD = datetime(2026, 3, 7, 12, tzinfo=UTC)  # in New York within the next 24 hours
CLOCKS_GO_BACK = datetime(2026, 10, 31, 12, tzinfo=UTC)


def test_tm1_a_lease_is_stamped_and_judged_by_the_database(stage: Stage) -> None:
    """A driver that is far off reads its lease's end from the answer, and nobody else's expires."""
    stage.clock.set(datetime.now(UTC) - 300 * DAY)
    stage.agent(lease=MINUTE)
    stage.enqueue()
    claim = stage.claim_one()
    assert claim.lease_expires_at == stage.clock.now() + MINUTE
    stage.clock.advance(59 * SECOND)
    assert worker.sweep(stage.db).requeued == 0
    (told,) = worker.renew_leases(stage.db, worker="w", attempt_ids=[claim.attempt_id])
    assert told.lease_expires_at == stage.clock.now() + MINUTE


def test_tm2_a_lease_begins_at_the_claim_not_with_the_transaction(stage: Stage) -> None:
    """By the real clock: a transaction older than the lease still claims a whole one."""
    stage.agent(lease=SECOND / 10)
    stage.enqueue()
    with stage.transaction() as session:
        session.execute("select pg_sleep(0.2)")
        before = stage.value("select clock_timestamp()")
        (claim,) = dequeue(1, "a")(session)
        assert claim.lease_expires_at >= before + SECOND / 10
        report.complete(session, attempt_id=claim.attempt_id, result={})
    task, attempt = stage.task(claim.task_id), stage.attempt(claim.attempt_id)
    assert task.created_at < attempt.started_at <= attempt.finished_at
    assert attempt.started_at >= before


def after_a_wait(stage: Stage, hold: Act[Any], act: Act[Any], wait: timedelta) -> Any:
    """Return what act gives when it waits that long for a session that did `hold`."""
    with stage.transaction() as holder:
        hold(holder)
        waiting, future = stage.start(act)
        assert stage.wait_until_blocked(waiting, future)
        stage.clock.advance(wait)
        holder.commit()
        return future.result()


def test_tm2_a_claim_that_waited_for_the_agent_has_a_whole_lease(stage: Stage) -> None:
    """Its lease, deadline and start are those of the moment in which it got its turn."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=5, lease=MINUTE, timeout=2 * MINUTE)
    stage.enqueue(count=2)
    (claim,) = after_a_wait(stage, dequeue(1, "a"), dequeue(1, "a"), 70 * SECOND)
    now = stage.clock.now()
    assert stage.attempt(claim.attempt_id).started_at == now
    assert (claim.lease_expires_at, claim.deadline_at) == (now + MINUTE, now + 2 * MINUTE)


def waited(stage: Stage, act: Act[Any]) -> Any:
    """Return what act gives after it waited 70 seconds for all tasks and attempts."""
    stage.superuser.execute("begin")
    try:
        stage.superuser.execute("select from forebay.tasks for no key update")
        stage.superuser.execute("select from forebay.task_attempts for no key update")
        waiting, future = stage.start(act)
        assert stage.wait_until_blocked(waiting, future)
        stage.clock.advance(70 * SECOND)
    finally:
        stage.superuser.execute("commit")
    return future.result()


LATE: dict[str, tuple[Callable[[int], Act[Any]], Callable[[Any], Any], Any]] = {
    "renew": (
        lambda id: lambda s: worker.renew_leases(s, worker="w", attempt_ids=[id]),
        lambda told: told[0].state,
        "lost",
    ),
    "observe": (
        lambda id: (
            lambda s: worker.observe_run(s, attempt_id=id, run={"life_cycle_state": "RUNNING"})
        ),
        lambda outcome: outcome,
        "retry",
    ),
}


@pytest.mark.parametrize("late", LATE)
def test_tm2_a_renewal_that_waited_past_the_end_is_too_late(stage: Stage, late: str) -> None:
    """Whether the lease or the deadline still holds is asked when the row is held, not before."""
    assert stage.clock
    stage.agent(launcher="lakeflow", job_id=1, lease=MINUTE, timeout=MINUTE)
    stage.enqueue()
    make_act, read, expected = LATE[late]
    act = make_act(stage.claim_one().attempt_id)
    assert read(waited(stage, act)) == expected


ENDS: dict[str, Callable[[int, int], Act[Any]]] = {
    "complete": lambda task, id: lambda s: report.complete(s, attempt_id=id, result={}),
    "fail": lambda task, id: lambda s: report.fail(s, attempt_id=id, error={}),
    "release": lambda task, id: lambda s: worker.release(s, attempt_id=id, reason="stop"),
    "cancel": lambda task, id: lambda s: operator.cancel(s, task_ids=[task]),
}


@pytest.mark.parametrize("end", ENDS)
def test_tm2_an_end_is_stamped_after_the_wait(stage: Stage, end: str) -> None:
    """finished_at, and what is counted from it, is read when the rows are held."""
    assert stage.clock
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    waited(stage, ENDS[end](claim.task_id, claim.attempt_id))
    assert stage.attempt(claim.attempt_id).finished_at == stage.clock.now()
    task = stage.task(claim.task_id)
    if task.status == "enqueued":
        assert task.available_at >= stage.clock.now()
    else:
        assert task.finished_at == stage.clock.now()


@pytest.mark.parametrize("end", ENDS)
def test_tm2_a_clock_that_steps_back_stops_nobody(stage: Stage, end: str) -> None:
    """A report right after a step of the server's clock is taken in like any other."""
    assert stage.clock
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    stage.clock.advance(-5 * MINUTE)
    ENDS[end](claim.task_id, claim.attempt_id)(stage.db)
    assert stage.task(claim.task_id).status != "processing"
    attempt = stage.attempt(claim.attempt_id)
    assert attempt.finished_at >= attempt.started_at


def test_tm2_a_clock_that_steps_back_refills_nothing(stage: Stage) -> None:
    """Buckets neither gain nor lose by the step, and fill again when the time has passed."""
    assert stage.clock
    stage.agent(max_tpm=60000)
    stage.enqueue(count=2, estimated_tokens=48000)
    assert stage.claim_one()
    stage.clock.advance(-10 * MINUTE)
    assert stage.level() == 0
    assert stage.claim() == []
    stage.clock.advance(11 * MINUTE)
    assert stage.claim_one()


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("noon", [CLOCKS_GO_FORWARD, CLOCKS_GO_BACK], ids=["forward", "back"])
def test_tm3_a_day_has_24_hours_in_every_zone(stage: Stage, zone: str, noon: datetime) -> None:
    """Leases, deadlines, waits and pauses do not depend on a session's zone, nor on its seasons."""
    stage.clock.set(noon)
    session = stage.session(f"-c TimeZone={zone}")
    operator.register_agent(
        session, agent="a", lease=DAY, timeout=2 * DAY, backoff_base=DAY, backoff_max=DAY
    )
    submitter.enqueue_many(session, agent="a", tasks=[{"payload": n} for n in range(3)])
    failed, released, kept = dequeue(3, "a")(session)
    assert kept.lease_expires_at == noon + DAY
    assert kept.deadline_at == noon + 2 * DAY
    error = {"kind": "infrastructure"}
    report.fail(session, attempt_id=failed.attempt_id, error=error, retry_after=DAY)
    worker.release(session, attempt_id=released.attempt_id, reason="stop", retry_in=DAY)
    for claim in (failed, released):
        assert stage.task(claim.task_id).available_at == noon + DAY
    stage.clock.set(noon + DAY - SECOND)
    assert worker.sweep(session).woken == 0
    assert dequeue(3, "a")(session) == []
    stage.clock.set(noon + DAY)
    assert {claim.task_id for claim in dequeue(3, "a")(session)} >= {
        failed.task_id,
        released.task_id,
    }
    assert stage.attempt(kept.attempt_id).status in ("claimed", "lost")


@pytest.mark.parametrize("zone", ZONES)
def test_tm3_an_instant_means_the_same_in_every_zone(stage: Stage, zone: str) -> None:
    """run_after is what was said, and one without an offset is refused."""
    assert stage.clock
    stage.agent()
    session = stage.session(f"-c TimeZone={zone}")
    due = stage.clock.now() + DAY
    task_id = submitter.enqueue(session, agent="a", payload={}, run_after=due)
    assert stage.task(task_id).available_at == due
    vague = [{"payload": {}, "run_after": due.replace(tzinfo=None).isoformat()}]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="run_after"):
        submitter.enqueue_many(session, agent="a", tasks=vague)


def test_tm5_run_after_is_an_instant_of_the_databases_clock(stage: Stage) -> None:
    """Who is unsure of its own clock asks the database's; a time that has passed means now."""
    stage.clock.set(datetime.now(UTC) - 2 * timedelta(hours=1))
    stage.agent()
    now = viewer.server_time(stage.db)
    assert now == stage.clock.now()
    due = submitter.enqueue(stage.db, agent="a", payload={}, run_after=now + 5 * SECOND)
    past = submitter.enqueue(stage.db, agent="a", payload={}, run_after=now - DAY)
    assert stage.task(past).available_at == now
    assert [claim.task_id for claim in stage.claim(2)] == [past]
    stage.clock.advance(5 * SECOND)
    assert [claim.task_id for claim in stage.claim(2)] == [due]
