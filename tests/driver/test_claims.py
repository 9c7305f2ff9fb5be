"""A claim whose answer is lost with its line: the work is begun all the same, by that attempt."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay import Task, Worker
from forebay.calls import worker as calls
from support import daemon, worker

DSN = Callable[..., str]


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have the line of the first claim that finds something break before it is heard of."""
    lost: list[int] = []
    dequeue = calls.dequeue

    def dequeue_and_lose(connection: psycopg.Connection, **arguments: Any) -> Any:
        claimed = dequeue(connection, **arguments)
        if claimed and not lost:
            lost.extend(claim.attempt_id for claim in claimed)
            connection.close()
            raise psycopg.OperationalError("the connection was lost")
        return claimed

    monkeypatch.setattr(calls, "dequeue", dequeue_and_lose)
    return lost


def test_a_worker_begins_what_it_did_not_hear_of(
    role_dsn: DSN, db: psycopg.Connection, losing: list[int]
) -> None:
    """Long before the lease is over, and once: the tasks' first attempts succeed."""
    worker.register(db, lease=timedelta(minutes=5), max_attempts=1)
    task_ids = worker.enqueue(db, 3)
    pulling = Worker(role_dsn("worker", "agent"), agent="parse", concurrency=3)
    begun = []

    @pulling.handler
    def handle(task: Task) -> None:
        begun.append(task.attempt_id)
        if len(begun) == 3:
            pulling.stop()

    pulling.run()
    assert sorted(begun) == losing
    assert [daemon.task(db, task_id)["status"] for task_id in task_ids] == ["completed"] * 3


def test_a_daemon_launches_what_it_did_not_hear_of(
    role_dsn: DSN,
    db: psycopg.Connection,
    tmp_path: Path,
    losing: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same attempt gets its process."""
    daemon.install_fake_agents(monkeypatch)
    daemon.register(db, lease=timedelta(minutes=5), max_attempts=1)
    task_id = daemon.enqueue(db)
    with daemon.running(role_dsn("worker", "agent"), tmp_path):
        assert daemon.ended(db, task_id)["status"] == "completed"
    assert [one["attempt_id"] for one in daemon.attempts(db, task_id)] == losing
