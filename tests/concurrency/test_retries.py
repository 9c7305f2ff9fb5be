"""Retries: every way back in line has an end, and the waits are those that were promised (RT)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count, cycle
from typing import Any

import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker

SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
SKIPPED = {"life_cycle_state": "SKIPPED"}


def lose(stage: Stage, attempt_id: int) -> None:
    """Let a lease run out, adoption grace and all, and sweep."""
    stage.expire(attempt_id)
    stage.clock.advance(timedelta(minutes=2))
    worker.sweep(stage.db)


WAYS_BACK: dict[str, Callable[[Stage, int], Any]] = {
    "release": lambda s, id: worker.release(s.db, attempt_id=id, reason="stop"),
    "skipped": lambda s, id: worker.observe_run(s.db, attempt_id=id, run=SKIPPED),
    "fail": lambda s, id: report.fail(s.db, attempt_id=id, error={}),
    "lose": lose,
}


def claims_until_failed(stage: Stage, ways: list[str]) -> int:
    """Send a task back in these ways by turns, and count its claims until it fails."""
    (task_id,) = stage.enqueue()
    turns = cycle(ways)
    for claims in count(1):
        WAYS_BACK[next(turns)](stage, stage.claim_one().attempt_id)
        if stage.task(task_id).status == "failed":
            return claims
        assert claims < 50, "it has no end"
        stage.clock.advance(timedelta(days=1))
    raise AssertionError


@pytest.mark.parametrize(
    ("ways", "claims"),
    [
        (["release"], 5),
        (["skipped"], 5),
        (["fail"], 2),
        (["lose"], 2),
        (["release", "skipped"], 5),
        (["release", "fail"], 4),
        (["release", "skipped", "lose"], 5),
    ],
    ids=lambda value: " and ".join(value) if isinstance(value, list) else "",
)
def test_rt2_every_way_back_has_an_end(stage: Stage, ways: list[str], claims: int) -> None:
    """Two attempts and three releases: whatever the mixture, at most five claims."""
    assert stage.clock
    stage.agent(launcher="lakeflow", job_id=1, max_attempts=2, max_releases=3)
    assert claims_until_failed(stage, ways) == claims


@pytest.mark.parametrize("way", WAYS_BACK)
def test_rt2_the_loop_can_be_cancelled_while_it_runs(stage: Stage, way: str) -> None:
    """A cancelled task stays so, whichever way its attempt would have gone back."""
    assert stage.clock
    stage.agent(launcher="lakeflow", job_id=1)
    (task_id,) = stage.enqueue()
    claim = stage.claim_one()
    (effect,) = operator.cancel(stage.db, task_ids=[task_id])
    assert effect.effect == "cancelled"
    WAYS_BACK[way](stage, claim.attempt_id)
    assert stage.task(task_id).status == "cancelled"
    assert stage.claim() == []


@pytest.mark.parametrize("wait", [timedelta(), timedelta(hours=30)], ids=["none", "30 hours"])
def test_rt7_a_retry_waits_as_long_as_the_provider_said(stage: Stage, wait: timedelta) -> None:
    """p_retry_after goes before the backoff, up and down, also above the backoff's cap."""
    assert stage.clock
    stage.agent(backoff_base=5 * SECOND)
    stage.enqueue()
    attempt_id = stage.claim_one().attempt_id
    error = {"kind": "rate_limited", "message": "429"}
    assert report.fail(stage.db, attempt_id=attempt_id, error=error, retry_after=wait) == "enqueued"
    if wait:
        stage.clock.advance(wait - MICROSECOND)
        assert stage.claim() == []
        stage.clock.advance(MICROSECOND)
    assert stage.claim_one().attempt_no == 2


def test_rt7_a_refusal_can_be_waited_out_without_spending(stage: Stage) -> None:
    """A worker that was refused hands back with a delay: one attempt outlives many windows."""
    assert stage.clock
    stage.agent(max_attempts=1)
    (task_id,) = stage.enqueue()
    for _ in range(10):
        attempt_id, wait = stage.claim_one().attempt_id, 65 * SECOND
        worker.release(stage.db, attempt_id=attempt_id, reason="429", retry_in=wait)
        stage.clock.advance(wait - MICROSECOND)
        assert stage.claim() == []
        stage.clock.advance(MICROSECOND)
    assert (
        report.complete(stage.db, attempt_id=stage.claim_one().attempt_id, result={}) == "completed"
    )
    assert stage.task(task_id).attempt_count == 1


@pytest.mark.parametrize(
    "definition",
    [{}, {"backoff_max": 30 * SECOND}, {"backoff_base": timedelta(hours=1)}],
    ids=["default", "a cap of 30 s", "base and cap alike"],
)
def test_rt8_the_schedule_doubles_up_to_the_cap(stage: Stage, definition: dict[str, Any]) -> None:
    """The n-th wait is base * 2^(n-1), at most the cap, less up to a tenth; 70 do not overflow."""
    assert stage.clock
    stage.agent(**definition)
    base = definition.get("backoff_base", 5 * SECOND)
    cap = definition.get("backoff_max", timedelta(hours=1))
    (task_id,) = stage.enqueue()
    for number in range(1, 71):
        report.fail(stage.db, attempt_id=stage.claim_one().attempt_id, error={})
        wait = stage.task(task_id).available_at - stage.clock.now()
        expected = min(cap, base * 2 ** (number - 1)) if number < 20 else cap
        assert expected * 0.9 - MICROSECOND <= wait <= expected
        stage.clock.advance(wait)


@pytest.mark.parametrize("ending", ["failed", "cancelled"])
def test_rt9_an_operators_retry_starts_afresh(stage: Stage, ending: str) -> None:
    """Attempts and releases count from zero again, and the history is still there."""
    assert stage.clock
    stage.agent(launcher="lakeflow", job_id=1, max_attempts=2, max_releases=3)
    first = claims_until_failed(stage, ["release", "fail"])
    (task_id,) = (row.task_id for row in stage.rows("select task_id from forebay.tasks"))
    if ending == "cancelled":
        operator.retry(stage.db, task_ids=[task_id])
        operator.cancel(stage.db, task_ids=[task_id])
    (effect,) = operator.retry(stage.db, task_ids=[task_id])
    assert (effect.status, effect.effect) == ("enqueued", "retried")
    task = stage.task(task_id)
    assert (task.attempt_count, task.release_count, task.error) == (0, 0, None)
    for number in range(1, 6):
        attempt_id = stage.claim_one().attempt_id
        worker.release(stage.db, attempt_id=attempt_id, reason="stop")
        assert stage.task(task_id).status == ("failed" if number == 5 else "enqueued")
    detail = viewer.task_detail(stage.db, task_id=task_id)
    assert [attempt["attempt_no"] for attempt in detail.attempts] == list(range(1, first + 6))
