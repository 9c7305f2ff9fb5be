"""Notifications are hints: none for nothing, none lost at a low rate, never in the way (NT)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, submitter, worker

QUIET = 0.15  # seconds without a notification after which none is under way


class Ear:
    """A session that listens to both channels."""

    def __init__(self, stage: Stage) -> None:
        self.session = stage.session()
        self.session.execute("listen forebay_work")
        self.session.execute("listen forebay_changes")
        self.heard()

    def heard(self) -> Counter[str]:
        """Return how often each channel was notified since the last time, without its prefix."""
        notes = list(self.session.notifies(timeout=QUIET))
        assert all(note.payload == "" for note in notes)
        return Counter(note.channel.removeprefix("forebay_") for note in notes)


def test_nt1_what_changes_nothing_notifies_nobody(stage: Stage) -> None:
    """Not idle polls, renewals, progress, usage, or acts on nothing: only a task that changed."""
    stage.agent(max_concurrent_tasks=1)
    stage.enqueue(count=2)
    claim = stage.claim_one()
    ear, db = Ear(stage), stage.db
    for _ in range(3):
        assert stage.claim() == []
        worker.sweep(db)
        worker.renew_leases(db, worker="w", attempt_ids=[claim.attempt_id])
        report.report_progress(db, attempt_id=claim.attempt_id, done=1, total=2)
        report.report_usage(db, attempt_id=claim.attempt_id, usage={"call_id": "c"})
        operator.cancel(db, task_ids=[0])
        submitter.enqueue_many(db, agent="a", tasks=[])
    assert not ear.heard()


@pytest.mark.parametrize(
    ("act", "channels"),
    [
        (lambda stage: stage.enqueue(), {"work", "changes"}),
        (lambda stage: stage.claim(), {"changes", "work"}),
        (lambda stage: operator.pause_agent(stage.db, agent="a"), {"work", "changes"}),
    ],
    ids=["enqueue", "claim", "pause"],
)
def test_nt1_a_change_notifies(
    stage: Stage, act: Callable[[Stage], Any], channels: set[str]
) -> None:
    """Dashboards hear of every change; dispatchers of what may let something start."""
    stage.agent()
    stage.enqueue()
    ear = Ear(stage)
    act(stage)
    heard = ear.heard()
    assert heard["changes"] == 1
    assert set(heard) <= channels


def test_sl7_a_freed_slot_wakes_dispatchers(stage: Stage) -> None:
    """When the running task of a full agent ends, the next can start without any new enqueue."""
    stage.agent(max_concurrent_tasks=1)
    stage.enqueue(count=2)
    claim = stage.claim_one()
    ear = Ear(stage)
    report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    assert ear.heard()["work"] == 1
    stage.claim_one()


def test_nt8_one_transaction_notifies_once(stage: Stage) -> None:
    """Whatever a transaction does, each channel hears of it once."""
    stage.agent()
    ear = Ear(stage)
    with stage.db.transaction():
        for _ in range(30):
            stage.enqueue()
    assert ear.heard() == {"work": 1, "changes": 1}


@pytest.mark.parametrize("apart", [0.02, 0.007])
def test_nt_none_is_lost_at_a_low_rate(stage: Stage, apart: float) -> None:
    """Transactions that are some milliseconds apart are all heard."""
    stage.agent()
    ear = Ear(stage)
    for _ in range(40):
        stage.enqueue()
        sleep(apart)
    assert ear.heard()["work"] == 40


def test_nt1_many_writers_share_notifications(stage: Stage) -> None:
    """At a high rate most keep silent, and the last change is still followed by a wake-up."""
    stage.agent()
    ear = Ear(stage)
    begin = monotonic()

    def write(session: Any) -> None:
        for _ in range(50):
            submitter.enqueue(session, agent="a", payload={})

    assert stage.at_once([write] * 8) == [None] * 8
    most = 20 + (monotonic() - begin) * 1000 / 5 + 8
    assert 1 <= ear.heard()["changes"] <= most


def test_nt_an_open_transaction_silences_nobody(stage: Stage) -> None:
    """Others are heard while it has notified but not committed, and it is heard when it has."""
    stage.agent()
    ear = Ear(stage)
    with stage.transaction() as slow:
        submitter.enqueue(slow, agent="a", payload={})
        stage.enqueue()
        assert ear.heard()["work"] == 1
        slow.commit()
        assert ear.heard()["work"] == 1


def test_nt_a_rollback_is_not_heard(stage: Stage) -> None:
    """What did not happen wakes nobody, and the next change is heard."""
    stage.agent()
    ear = Ear(stage)
    with stage.transaction() as session:
        submitter.enqueue(session, agent="a", payload={})
        session.rollback()
    assert not ear.heard()
    stage.enqueue()
    assert ear.heard()["work"] == 1


def test_nt5_a_listener_can_be_seen(stage: Stage) -> None:
    """health shows how full the queue is: a listener that hangs in a transaction fills it."""
    usage = stage.value("select notify_queue_usage from forebay.health()")
    assert 0 <= usage < 0.1


def test_nt9_bulk_work_notifies_once_and_in_time(stage: Stage) -> None:
    """Twenty thousand tasks cancelled at once take seconds, not minutes."""
    stage.agent()
    ids = stage.enqueue(count=10_000) + stage.enqueue(count=10_000)
    ear = Ear(stage)
    begin = monotonic()
    operator.cancel(stage.db, task_ids=ids)
    assert monotonic() - begin < 10
    assert ear.heard()["changes"] == 1
