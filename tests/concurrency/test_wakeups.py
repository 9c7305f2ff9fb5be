"""Notifications kept silent under load: whoever may need one gets it in the end (NT)."""

from __future__ import annotations

from collections import Counter

from concurrency.stage import Stage
from concurrency.test_notify import Ear
from forebay.calls import submitter, worker


def spend_ahead(stage: Stage) -> None:
    """Let notifications be spent for the next half second, as many writers would."""
    for channel in ("work", "changes"):
        stage.superuser.execute(
            f"select setval('forebay.{channel}_notified_until',"
            " (extract(epoch from clock_timestamp()) * 1000)::bigint + 500)".encode()
        )


def wakeups(stage: Stage) -> int:
    """Count the wake-ups that were asked for and not decided yet."""
    return stage.value("select count(*) from forebay.wakeups")


def test_nt1_a_short_transaction_keeps_silent_under_load(stage: Stage) -> None:
    """The others' notifications follow within milliseconds; it leaves nothing behind."""
    stage.agent()
    ear = Ear(stage)
    spend_ahead(stage)
    stage.enqueue()
    assert not ear.heard()
    assert wakeups(stage) == 0


def test_nt1_a_transaction_that_stays_open_is_judged_at_its_commit(stage: Stage) -> None:
    """By then the others' notifications may be over: both channels hear of it, once."""
    stage.agent()
    ear = Ear(stage)
    with stage.transaction() as slow:
        spend_ahead(stage)
        submitter.enqueue(slow, agent="a", payload={})
        slow.execute("select pg_sleep(0.6)")
        submitter.enqueue(slow, agent="a", payload={})
    assert ear.heard() == Counter(work=1, changes=1)
    assert wakeups(stage) == 0


def test_nt1_a_transaction_that_rolls_back_says_nothing(stage: Stage) -> None:
    """Nothing happened, nothing is left."""
    stage.agent()
    ear = Ear(stage)
    with stage.transaction() as slow:
        submitter.enqueue(slow, agent="a", payload={})
        slow.rollback()
    assert not ear.heard()
    assert wakeups(stage) == 0


def test_nt1_many_rollbacks_silence_nobody(stage: Stage) -> None:
    """Transactions that did not happen spend no notification of those that do."""
    stage.agent()
    ear = Ear(stage)
    for _ in range(60):
        with stage.db.transaction(force_rollback=True):
            stage.enqueue()
    stage.enqueue()
    assert ear.heard()["work"] == 1


def test_nt9_a_sweep_of_20_000_notifies_once(stage: Stage) -> None:
    """However many tasks go back in line, each channel hears of it once."""
    stage.agent()
    for _ in range(40):
        stage.enqueue(count=500)
        assert len(stage.claim(500)) == 500
    stage.superuser.execute("update forebay.task_attempts set lease_expires_at = started_at")
    ear = Ear(stage)
    assert worker.sweep(stage.db, limit=100_000).requeued == 20_000
    assert ear.heard() == Counter(work=1, changes=1)
