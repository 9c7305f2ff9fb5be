"""What compute cost by the local source: run seconds times a rate, each attempt once."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import psycopg
import pytest

from conftest import Connect
from forebay import compute
from forebay.calls import agent as report
from forebay.calls import upkeep, viewer, worker
from forebay.compute import refresh_local
from support.clock import Clock
from support.daemon import enqueue, register


@pytest.fixture
def ran(db: psycopg.Connection, clock: Clock) -> list[int]:
    """Let two tasks run for 90 and 30 seconds, and return their ids; a third one still runs."""
    register(db)
    ids = []
    for seconds in (90, 30, None):
        ids.append(enqueue(db))
        (claim,) = worker.dequeue(db, worker="w", agents=["fake"])
        worker.record_run(db, attempt_id=claim.attempt_id, run_id=f"run {ids[-1]}")
        if seconds is not None:
            clock.advance(timedelta(seconds=seconds))
            report.complete(db, attempt_id=claim.attempt_id, result={})
    return ids


def test_run_seconds_times_the_rate(
    ran: list[int], db: psycopg.Connection, connect: Connect
) -> None:
    """Of ended attempts, once each; provisional, and as of the last time, also when none is new."""
    as_upkeep = connect("upkeep")
    assert refresh_local(as_upkeep, usd_per_hour=Decimal("3.60")) == 2
    assert [viewer.task_detail(db, task_id=task_id).compute_usd for task_id in ran] == [
        Decimal("0.09"),
        Decimal("0.03"),
        None,
    ]
    found = viewer.metrics(db)
    assert (found.compute_usd, found.costed_attempts) == (Decimal("0.12"), 2)
    assert not found.is_compute_final
    assert found.compute_as_of is not None
    assert refresh_local(as_upkeep, usd_per_hour=Decimal("99")) == 0
    assert viewer.metrics(db).compute_usd == Decimal("0.12")


def test_more_than_a_batch(
    ran: list[int], connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on until nothing is left, in bounded calls, and at most so many of them at once."""
    monkeypatch.setattr(compute, "BATCH", 1)
    monkeypatch.setattr(compute, "MOST_BATCHES", 1)
    as_upkeep = connect("upkeep")
    assert refresh_local(as_upkeep, usd_per_hour=Decimal(1)) == 1
    monkeypatch.setattr(compute, "MOST_BATCHES", 100)
    assert refresh_local(as_upkeep, usd_per_hour=Decimal(1)) == 1
    assert upkeep.attempts_to_cost(as_upkeep) == []


@pytest.mark.parametrize("rate", ["0", "0.05"])
def test_what_costs_next_to_nothing_holds_up_nobody(
    rate: str, db: psycopg.Connection, clock: Clock, connect: Connect
) -> None:
    """A rate of 0, and an attempt of some milliseconds, are numbers like others."""
    register(db)
    task_id = enqueue(db)
    (claim,) = worker.dequeue(db, worker="w", agents=["fake"])
    clock.advance(timedelta(milliseconds=69))
    report.complete(db, attempt_id=claim.attempt_id, result={})
    assert refresh_local(connect("upkeep"), usd_per_hour=Decimal(rate)) == 1
    wanted = round(Decimal("0.069") * Decimal(rate) / 3600, 8)
    assert viewer.task_detail(db, task_id=task_id).compute_usd == wanted
