"""What an open transaction keeps others from doing, and what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from concurrency.stage import Stage, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, submitter, worker

OPEN_REPORTS: dict[str, Callable[[psycopg.Connection, int], Any]] = {
    "complete": lambda s, id: report.complete(s, attempt_id=id, result={}),
    "complete_many": lambda s, id: report.complete_many(s, attempt_ids=[id], results=[{}]),
    "fail": lambda s, id: report.fail(s, attempt_id=id, error={}),
    "release": lambda s, id: worker.release(s, attempt_id=id, reason="stop"),
    "renew_leases": lambda s, id: worker.renew_leases(s, worker="w", attempt_ids=[id]),
    "report_usage": lambda s, id: report.report_usage(
        s, attempt_id=id, usage={"call_id": "c", "input_tokens": 1}
    ),
    "report_progress": lambda s, id: report.report_progress(s, attempt_id=id, done=1, total=2),
    "record_run": lambda s, id: worker.record_run(s, attempt_id=id, run_id="r"),
}


@pytest.mark.parametrize("name", OPEN_REPORTS)
def test_an_open_report_holds_up_nobody(stage: Stage, name: str) -> None:
    """While a report is not committed, the same agent goes on claiming and being swept."""
    stage.agent(max_concurrent_tasks=5, max_tpm=10**6)
    stage.enqueue(count=5)
    held = stage.claim_one()
    with stage.transaction() as open_report:
        OPEN_REPORTS[name](open_report, held.attempt_id)
        assert not stage.is_held_up(dequeue(1, "a"))
        assert not stage.is_held_up(lambda s: worker.sweep(s))
        assert stage.in_use() == 2


@pytest.mark.parametrize(
    "act",
    [
        lambda s: submitter.enqueue(s, agent="a", payload={}),
        lambda s: operator.cancel(s, task_ids=[1]),
        lambda s: operator.reprioritize(s, task_ids=[1], priority=5),
        lambda s: worker.sweep(s),
    ],
    ids=["enqueue", "cancel", "reprioritize", "sweep"],
)
def test_open_work_on_tasks_holds_up_no_dequeue(
    stage: Stage, act: Callable[[psycopg.Connection], Any]
) -> None:
    """A dequeue takes what nobody holds; it waits for no task."""
    stage.agent(max_concurrent_tasks=5)
    stage.enqueue(count=2)
    with stage.transaction() as other:
        act(other)
        assert not stage.is_held_up(dequeue(1, "a"))
        assert stage.in_use() == 1


def test_an_open_dequeue_leaves_other_agents_alone(stage: Stage) -> None:
    """While one agent is being admitted for, another call serves the other agent at once."""
    for agent in ("a", "b"):
        stage.agent(agent, max_concurrent_tasks=2)
        stage.enqueue(agent, 2)
    with stage.transaction() as first:
        dequeue(1, "a")(first)
        session, future = stage.start(dequeue(2))
        assert not stage.wait_until_blocked(session, future)
        assert {row.agent for row in future.result()} == {"b"}


def test_a_dequeue_waits_for_a_busy_agent_when_nothing_else_was_claimed(stage: Stage) -> None:
    """It waits for the other's commit, then takes what is left of the room."""
    for agent in ("a", "b"):
        stage.agent(agent, max_concurrent_tasks=2)
    stage.enqueue("a", 3)
    with stage.transaction() as first:
        dequeue(1, "a")(first)
        session, future = stage.start(dequeue(3))
        assert stage.wait_until_blocked(session, future)
        first.commit()
        assert [row.agent for row in future.result()] == ["a"]


def test_a_waiting_dequeue_holds_no_other_agent(stage: Stage) -> None:
    """It looked at an agent that gave it nothing, and waits for another: the first stays free."""
    for agent in ("a", "b"):
        stage.agent(agent, max_concurrent_tasks=2)
    (hidden,) = stage.enqueue("a", priority=5)
    stage.enqueue("b", 2)
    with stage.transaction() as first, stage.transaction() as other:
        dequeue(1, "b")(first)
        operator.reprioritize(other, task_ids=[hidden], priority=6)
        session, future = stage.start(dequeue(2))
        assert stage.wait_until_blocked(session, future)
        assert not stage.is_held_up(lambda s: operator.pause_agent(s, agent="a"))
        first.commit()
        assert [row.agent for row in future.result()] == ["b"]


def test_what_was_skipped_is_not_hidden_for_ever(stage: Stage) -> None:
    """A task that somebody held is passed over, and is first in line again once it is free."""
    stage.agent()
    first, second, third = stage.enqueue(count=3)
    with stage.transaction() as other:
        operator.cancel(other, task_ids=[first])
        assert stage.claim_one().task_id == second
        other.rollback()
    assert stage.claim_one().task_id == first
    assert stage.claim_one().task_id == third


def test_an_expired_task_that_was_skipped_is_swept_later(stage: Stage) -> None:
    """A sweep passes over what somebody holds, and the next one takes it."""
    stage.agent()
    stage.enqueue()
    held = stage.claim_one()
    stage.expire(held.attempt_id)
    with stage.transaction() as other:
        operator.reprioritize(other, task_ids=[held.task_id], priority=3)
        assert worker.sweep(stage.db).requeued == 0
    assert worker.sweep(stage.db).requeued == 1


def test_one_worker_name_in_two_sessions(stage: Stage) -> None:
    """Two sessions of one process do not wait for each other, the first time they are seen too."""
    for agent in ("a", "b"):
        stage.agent(agent, max_concurrent_tasks=1)
        stage.enqueue(agent)
    with stage.transaction() as first:
        dequeue(1, "a", by="same")(first)
        assert not stage.is_held_up(dequeue(1, "b", by="same"))
        assert not stage.is_held_up(lambda s: worker.sweep(s, worker="same"))
        assert stage.in_use("b") == 1


def test_a_new_limit_waits_for_the_admission_under_way(stage: Stage) -> None:
    """Limits and pauses change between admissions, never during one."""
    stage.agent(max_concurrent_tasks=3)
    stage.enqueue(count=3)
    with stage.transaction() as first:
        dequeue(2, "a")(first)
        assert stage.is_held_up(
            lambda s: operator.register_agent(s, agent="a", max_concurrent_tasks=1)
        )
        assert stage.is_held_up(lambda s: operator.pause_agent(s, agent="a"))


def test_pf5_a_new_child_row_does_not_hide_its_task(stage: Stage) -> None:
    """An open insertion that refers to the task only keeps its key: claim and sweep see it."""
    stage.agent()
    first, _ = stage.enqueue(count=2)
    with psycopg.connect(stage.superuser.info.dsn) as child:
        child.execute(
            "insert into forebay.task_attempts (task_id, agent, launcher, attempt_no, status,"
            " worker, launch_token, lease_expires_at, deadline_at, estimated_tokens, started_at,"
            " finished_at) values (%s, 'a', 'pull', 100, 'released', 'w', 'token', now(), now(),"
            " 0, now(), now())",
            [first],
        )
        claim = stage.claim_one()
        assert claim.task_id == first
        stage.expire(claim.attempt_id)
        assert worker.sweep(stage.db).requeued == 1
        child.rollback()


def test_pf7_no_lock_outlives_its_transaction(stage: Stage) -> None:
    """Advisory locks end with the transaction: a pooled session carries none away."""
    stage.agent(max_concurrent_tasks=1)
    stage.enqueue()
    stage.claim()
    worker.sweep(stage.db, worker="w")
    assert stage.rows("select from pg_locks where locktype = 'advisory'") == []
