"""Callbacks, idempotency keys and cancel races (WH)."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.errors import SerializationFailure

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, submitter, worker
from forebay.errors import IdempotencyKeyReusedError, UnknownAttemptError
from forebay.rows import ClaimedAttempt


def event(claim: ClaimedAttempt, kind: str = "completed", **data: Any) -> dict[str, Any]:
    """Return an event about a claim."""
    ids = {"task_id": claim.task_id, "attempt_id": claim.attempt_id}
    return {"type": f"task.{kind}", "timestamp": "2026-01-01T12:00:00Z", "data": ids | data}


def test_wh1_a_callback_may_come_early_or_late(stage: Stage) -> None:
    """Before the run's id is recorded, and while the task is back in line."""
    stage.agent()
    stage.enqueue(count=2)
    early, late = stage.claim(2)
    stage.expire(late.attempt_id)
    worker.sweep(stage.db)
    for claim in (early, late):
        answer = report.callback(stage.db, event=event(claim, result={}))
        assert answer == {"task_id": claim.task_id, "status": "completed", "effect": "completed"}


def test_wh2_one_of_two_deliveries_wins(stage: Stage) -> None:
    """The same event twice at once completes once; what comes after changes nothing."""
    stage.agent()
    for _ in range(10):
        stage.enqueue()
        claim = stage.claim_one()
        deliver = lambda s, claim=claim: report.callback(s, event=event(claim, result={}))["effect"]  # noqa: E731
        assert sorted(stage.at_once([deliver] * 4)) == ["completed", "none", "none", "none"]
    failed = report.callback(stage.db, event=event(claim, "failed", error={"kind": "timeout"}))
    assert (failed["status"], failed["effect"]) == ("completed", "none")
    other = report.callback(stage.db, event=event(claim, result={"another": True}))
    assert other["effect"] == "kept"
    assert stage.task(claim.task_id).result == {}
    assert stage.attempt(claim.attempt_id).result == {"another": True}


def test_wh2_usage_is_counted_once(stage: Stage) -> None:
    """The agent's report and the callback that repeats it are one call, not two."""
    stage.agent(max_tpm=10**6)
    stage.enqueue()
    claim = stage.claim_one()
    usage = {"call_id": "c", "input_tokens": 5, "output_tokens": 1}
    assert report.report_usage(stage.db, attempt_id=claim.attempt_id, usage=usage) == 1
    assert report.report_usage(stage.db, attempt_id=claim.attempt_id, usage=usage) == 0
    report.callback(stage.db, event=event(claim, "usage", usage=usage | {"input_tokens": 7}))
    rows = stage.rows("select input_tokens from forebay.attempt_usage")
    assert [row.input_tokens for row in rows] == [5]


def test_wh2_a_callback_cannot_name_another_tasks_attempt(stage: Stage) -> None:
    """Task and attempt must belong together: QF304, and nothing changed."""
    stage.agent()
    stage.enqueue(count=2)
    one, two = stage.claim(2)
    wrong = event(one, result={})
    wrong["data"]["attempt_id"] = two.attempt_id
    with pytest.raises(UnknownAttemptError):
        report.callback(stage.db, event=wrong)
    assert stage.in_use() == 2


@pytest.mark.parametrize("first", ["cancel", "complete"])
def test_wh6_cancel_and_complete_race(stage: Stage, first: str) -> None:
    """The one that commits first decides; the other waits for it and changes nothing."""
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    acts = {
        "cancel": lambda s: operator.cancel(s, task_ids=[claim.task_id]),
        "complete": lambda s: report.complete(s, attempt_id=claim.attempt_id, result={}),
    }
    with stage.transaction() as session:
        acts.pop(first)(session)
        ((_, second),) = acts.items()
        waiting, future = stage.start(second)
        assert stage.wait_until_blocked(waiting, future)
        session.commit()
        future.result()
    wanted = {"cancel": "cancelled", "complete": "completed"}[first]
    assert stage.task(claim.task_id).status == wanted


def test_wh6_nothing_is_retried_after_a_cancel(stage: Stage) -> None:
    """Reports of a cancelled attempt are no-ops, and the result is kept on the attempt."""
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    operator.cancel(stage.db, task_ids=[claim.task_id])
    assert report.fail(stage.db, attempt_id=claim.attempt_id, error={}) == "cancelled"
    assert report.complete(stage.db, attempt_id=claim.attempt_id, result={"n": 1}) == "cancelled"
    assert stage.attempt(claim.attempt_id).result == {"n": 1}
    assert stage.claim() == []


def test_wh7_a_key_is_one_agents_own(stage: Stage) -> None:
    """Two agents may use one key; one agent with another payload is refused."""
    for agent in ("a", "b"):
        stage.agent(agent)
    keyed = {"idempotency_key": "daily"}
    one = submitter.enqueue(stage.db, agent="a", payload={"n": 1}, **keyed)
    assert submitter.enqueue(stage.db, agent="b", payload={"n": 2}, **keyed) != one
    assert submitter.enqueue(stage.db, agent="a", payload={"n": 1}, **keyed) == one
    with pytest.raises(IdempotencyKeyReusedError):
        submitter.enqueue(stage.db, agent="a", payload={"n": 2}, **keyed)


def test_wh7_sixteen_enqueues_of_one_key_make_one_task(stage: Stage) -> None:
    """At the same moment too, and all of them get its id."""
    stage.agent()
    ids = stage.at_once(
        [lambda s: submitter.enqueue(s, agent="a", payload={}, idempotency_key="k")] * 16
    )
    assert len(set(ids)) == 1
    assert stage.value("select count(*) from forebay.tasks") == 1


def test_a_key_whose_task_goes_away_is_tried_again(stage: Stage) -> None:
    """A task deleted after its key was met, before its id was read: 40001, and nothing is left."""
    stage.agent()
    tasks = [{"payload": {}, "idempotency_key": key} for key in ("met", "wanted", "new")]
    submitter.enqueue_many(stage.db, agent="a", tasks=tasks[:1])
    with stage.transaction() as rival:
        submitter.enqueue_many(rival, agent="a", tasks=tasks[1:2])
        waiting = stage.start(lambda s: submitter.enqueue_many(s, agent="a", tasks=tasks))
        assert stage.wait_until_blocked(*waiting)
        stage.superuser.execute("delete from forebay.tasks where idempotency_key = 'met'")
        rival.rollback()
    with pytest.raises(SerializationFailure, match='task 1: the task with key "met" went away'):
        waiting[1].result()
    assert stage.rows("select from forebay.tasks") == []
    assert len(submitter.enqueue_many(stage.db, agent="a", tasks=tasks)) == 3
