"""The pull worker as a process that is asked to end, stopped, killed, or loses its server."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay import Task, Worker, schema
from forebay.calls import operator, reader, worker
from forebay.embedded import Server
from support.server import INSTALLER, login_role, running_server
from support.worker import SECOND, detail, enqueue, register

DSN = Callable[..., str]
TESTS = Path(__file__).parents[1]


class Process:
    """A worker process of agent `parse`; it says when it is ready, and what it finished."""

    def __init__(self, dsn: str, concurrency: int = 1, grace: float = 10) -> None:
        command = [sys.executable, "-m", "support.worker_process"]
        self._process = subprocess.Popen(
            [*command, dsn, "parse", str(concurrency), str(grace)],
            cwd=TESTS,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def ended(self, seconds: float = 15) -> tuple[int, str]:
        """Return the exit code and the last words."""
        out, _ = self._process.communicate(timeout=seconds)
        return self._process.returncode, out

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it whatever it does."""
        if self.is_running:
            self.signal(signal.SIGCONT)
            self._process.kill()
            self._process.communicate()


@pytest.fixture
def start(role_dsn: DSN) -> Iterator[Callable[..., Process]]:
    """Return a function that starts a worker process; all end with the test."""
    started: list[Process] = []

    def start(**options: Any) -> Process:
        started.append(Process(role_dsn("worker", "agent"), **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()


@pytest.fixture
def caller(connect: Callable[..., psycopg.Connection]) -> psycopg.Connection:
    """Connect as a member of every role, with agent `parse`: a lease of 1 s and 3 attempts."""
    conn = connect("all")
    register(conn)
    return conn


def wait_for(conn: psycopg.Connection, task_id: int, *statuses: str, seconds: float = 15) -> None:
    """Fail unless the task comes into one of the statuses in time."""
    give_up_at = time.monotonic() + seconds
    while (status := detail(conn, task_id).status) not in statuses:
        assert time.monotonic() < give_up_at, f"task {task_id} is still {status}"
        time.sleep(0.02)


def test_lj2_sigterm_lets_the_running_task_end_and_hands_back_the_rest(
    caller: psycopg.Connection, start: Callable[..., Process]
) -> None:
    """The task in work ends well; what was only claimed is back in line at once, unspent."""
    first, *others = enqueue(caller, 3, do="sleep", seconds=1.5)
    process = start()
    wait_for(caller, first, "processing")
    process.signal(signal.SIGTERM)
    for task_id in others:
        wait_for(caller, task_id, "enqueued", seconds=1)
    assert process.ended() == (0, "finished 1\n")
    assert detail(caller, first).status == "completed"
    for task_id in others:
        found = detail(caller, task_id)
        assert (found.status, found.attempt_count) == ("enqueued", 0)


def test_lj2_sigterm_ends_the_grace_of_a_task_that_does_not_end(
    caller: psycopg.Connection, start: Callable[..., Process]
) -> None:
    """After the grace the process goes, and the task is back in line without a spent attempt."""
    (task_id,) = enqueue(caller, do="block", seconds=60)
    process = start(grace=0.5)
    wait_for(caller, task_id, "processing")
    process.signal(signal.SIGTERM)
    assert process.ended(5) == (0, "finished 0\n")
    found = detail(caller, task_id)
    assert (found.status, found.attempt_count, found.release_count) == ("enqueued", 0, 1)


def test_a_second_sigterm_ends_the_grace(
    caller: psycopg.Connection, start: Callable[..., Process]
) -> None:
    """Whoever asks twice does not want to wait."""
    (task_id,) = enqueue(caller, do="block", seconds=60)
    process = start(grace=60)
    wait_for(caller, task_id, "processing")
    process.signal(signal.SIGTERM)
    time.sleep(0.5)
    assert process.is_running
    process.signal(signal.SIGINT)
    assert process.ended(5) == (0, "finished 0\n")
    assert detail(caller, task_id).status == "enqueued"


def test_lj5_renewals_and_cancellation_go_on_during_the_grace(
    caller: psycopg.Connection, start: Callable[..., Process]
) -> None:
    """A process that shuts down keeps its leases, and still learns that a task is cancelled."""
    (task_id,) = enqueue(caller, do="sleep", seconds=60)
    process = start(grace=30)
    wait_for(caller, task_id, "processing")
    process.signal(signal.SIGTERM)
    time.sleep(2.5)
    worker.sweep(caller)
    assert detail(caller, task_id).status == "processing"
    operator.cancel(caller, task_ids=[task_id])
    assert process.ended(5) == (0, "finished 0\n")


def test_lj1_the_work_of_a_killed_process_comes_back(
    caller: psycopg.Connection, start: Callable[..., Process]
) -> None:
    """SIGKILL: another worker does it after the lease and a sweep, without an operator."""
    (task_id,) = enqueue(caller, do="sleep", seconds=2)
    first = start()
    wait_for(caller, task_id, "processing")
    first.signal(signal.SIGKILL)
    start()
    wait_for(caller, task_id, "completed")
    assert detail(caller, task_id).attempt_count == 2


def test_a_stopped_process_loses_its_task_and_learns_it(
    caller: psycopg.Connection, start: Callable[..., Process]
) -> None:
    """SIGSTOP longer than the lease: another worker takes over; the sleeper is told to stop."""
    (task_id,) = enqueue(caller, do="sleep", seconds=4)
    sleeper = start()
    wait_for(caller, task_id, "processing")
    sleeper.signal(signal.SIGSTOP)
    successor = start()
    give_up_at = time.monotonic() + 10
    while detail(caller, task_id).attempt_no < 2:
        assert time.monotonic() < give_up_at
        time.sleep(0.05)
    sleeper.signal(signal.SIGCONT)
    wait_for(caller, task_id, "completed")
    first, second = detail(caller, task_id).attempts
    assert {first["status"], second["status"]} <= {"succeeded", "lost", "superseded"}
    assert reader.task_result(caller, task_id=task_id).result is not None
    for process in (sleeper, successor):
        process.signal(signal.SIGTERM)
        code, _ = process.ended()
        assert code == 0


def test_rt1_a_task_that_kills_its_worker_runs_out_of_attempts(
    caller: psycopg.Connection, start: Callable[..., Process]
) -> None:
    """Each claim counts: after max_attempts dead workers the task has failed, and says why."""
    (task_id,) = enqueue(caller, do="exit")
    give_up_at = time.monotonic() + 40
    while detail(caller, task_id).status != "failed":
        assert time.monotonic() < give_up_at
        process = start()
        while process.is_running and detail(caller, task_id).status != "failed":
            time.sleep(0.05)
    found = detail(caller, task_id)
    assert found.attempt_count == 3
    assert found.error is not None
    assert "lease" in found.error["message"]


def test_le9_a_worker_survives_a_restart_of_the_database() -> None:
    """What runs goes on, is reported when the server is back, and new work is found."""
    with running_server() as server:
        admin = server.superuser()
        admin.execute(f"create database queue owner {INSTALLER}")
        schema.upgrade(server.dsn(INSTALLER, "queue"))
        dsn = server.dsn(login_role(admin, "all"), "queue")
        with psycopg.connect(dsn, autocommit=True) as conn:
            operator.register_agent(conn, agent="parse", lease=timedelta(seconds=20))
            (before,) = enqueue(conn, do="sleep", seconds=3)
        began, one = threading.Event(), Worker(dsn, agent="parse", poll=SECOND / 5)

        @one.handler
        def handle(task: Task) -> dict[str, int]:
            began.set()
            time.sleep(task.payload["seconds"])
            return {"attempt_no": task.attempt_no}

        thread = threading.Thread(target=one.run, daemon=True)
        thread.start()
        assert began.wait(10)
        postgres = Server(Path(server.host), durable=False)
        postgres.stop()
        time.sleep(4)
        assert thread.is_alive()
        postgres.start()
        with psycopg.connect(dsn, autocommit=True) as conn:
            wait_for(conn, before, "completed", seconds=20)
            assert reader.task_result(conn, task_id=before).result == {"attempt_no": 1}
            (after,) = enqueue(conn, do="sleep", seconds=0)
            wait_for(conn, after, "completed", seconds=10)
        one.stop()
        thread.join(10)
        assert not thread.is_alive()
