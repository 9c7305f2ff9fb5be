"""Ids keep every digit on their way through JSON (JS)."""

from __future__ import annotations

import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import viewer
from forebay.errors import UnknownAttemptError

BIG = 2**53 + 1  # a double cannot hold it


@pytest.mark.parametrize("write", [int, str], ids=["as numbers", "as strings"])
def test_js5_big_ids_survive_a_callback(stage: Stage, write: type[int] | type[str]) -> None:
    """Ids above 2^53 name their own task, written as numbers or as strings, and come back whole."""
    for sequence in ("tasks_task_id_seq", "task_attempts_attempt_id_seq"):
        stage.superuser.execute(f"alter sequence forebay.{sequence} restart {BIG - 1}".encode())
    stage.agent()
    stage.enqueue(count=2)
    neighbour, claim = stage.claim(2)
    assert (claim.task_id, claim.attempt_id) == (BIG, BIG)
    data = {"task_id": write(BIG), "attempt_id": write(BIG), "result": {"run_id": BIG}}
    answer = report.callback(stage.db, event={"type": "task.completed", "data": data})
    assert answer == {"task_id": BIG, "status": "completed", "effect": "completed"}
    assert stage.task(BIG).result == {"run_id": BIG}
    assert stage.task(neighbour.task_id).status == "processing"
    (attempt,) = viewer.task_detail(stage.db, task_id=BIG).attempts
    assert attempt["attempt_id"] == BIG


def test_js5_a_rounded_id_is_refused(stage: Stage) -> None:
    """A task and an attempt that do not belong together change nothing."""
    stage.superuser.execute(f"alter sequence forebay.tasks_task_id_seq restart {BIG - 1}".encode())
    stage.agent()
    stage.enqueue(count=2)
    _, claim = stage.claim(2)
    data = {"task_id": float(BIG), "attempt_id": claim.attempt_id, "result": {}}
    with pytest.raises(UnknownAttemptError):
        report.callback(stage.db, event={"type": "task.completed", "data": data})
    assert stage.task(BIG).status == "processing"
