"""Daemons for tests: in a thread of the test, or in a process of its own that signals can reach."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay.calls import operator, submitter, worker
from forebay.daemon import Daemon, Pace, run_until_signalled
from forebay.launchers import ExternalLauncher
from forebay.launchers.local import LocalLauncher
from forebay.pool import Database
from support.waiting import PATIENCE, until

FAKE_AGENTS = Path(__file__).parent / "fake_agents"
QUICK = Pace(poll_first=0.1, poll_longest=0.3, sweep=0.3, observe=0.3, stop_grace=2)
STOP_SECONDS = 15  # less than a statement may take: what a daemon waits for is to be cancelled


@contextmanager
def running(
    dsn: str,
    folder: Path,
    *,
    slots: int = 2,
    pace: Pace = QUICK,
    external: tuple[ExternalLauncher, ...] = (),
) -> Iterator[Daemon]:
    """Run a daemon in a thread, its log files in folder, and stop it after the block."""
    database = Database(dsn)
    daemon = Daemon(database, LocalLauncher(database, folder, slots), external=external, pace=pace)
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(daemon.run)
        try:
            yield daemon
        finally:
            stop(daemon, work)


def stop(daemon: Daemon, work: Future[None]) -> None:
    """End the daemon as a process does that was signalled: it is asked until it has ended."""
    give_up_at = time.monotonic() + STOP_SECONDS
    daemon.stop()
    while not wait([work], 0.1).done:
        assert time.monotonic() < give_up_at, "the daemon did not end in time"
        daemon.stop()
    work.result()


@contextmanager
def daemon_process(
    dsn: str, folder: Path, accident: str = "", *, slots: int = 2
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a daemon in a process of its own; it is killed after the block if it still runs.

    The accident `die before record_run` has it kill itself right after its first launch.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "support.daemon", str(folder), str(slots), accident],
        env=os.environ
        | {
            "FOREBAY_DATABASE_URL": dsn,
            "PYTHONPATH": os.pathsep.join([str(FAKE_AGENTS.parent.parent), str(FAKE_AGENTS)]),
        },
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def install_fake_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process and its children find the entry point `fake`."""
    monkeypatch.syspath_prepend(str(FAKE_AGENTS))
    monkeypatch.setenv("PYTHONPATH", str(FAKE_AGENTS))


def register(db: psycopg.Connection, agent: str = "fake", **definition: Any) -> None:
    """Register a local agent whose entry point is the fake one."""
    definition = {"launcher": "local", "entry_point": "fake"} | definition
    operator.register_agent(db, agent=agent, **definition)


def enqueue(
    db: psycopg.Connection, do: str = "nothing", *, agent: str = "fake", **payload: Any
) -> int:
    """Enqueue a task that does that; return its id."""
    return submitter.enqueue(db, agent=agent, payload={"do": do, **payload})


def task(db: psycopg.Connection, task_id: int) -> dict[str, Any]:
    """Return the row of a task, read as the installer, who may act as the owner."""
    return _row(db, "select * from forebay.tasks where task_id = %s", task_id)


def attempts(db: psycopg.Connection, task_id: int) -> list[dict[str, Any]]:
    """Return a task's attempts, oldest first."""
    query = "select * from forebay.task_attempts where task_id = %s order by attempt_no"
    return _rows(db, query, task_id)


def ended(db: psycopg.Connection, task_id: int, seconds: float = PATIENCE) -> dict[str, Any]:
    """Wait until the task has ended, and return its row."""
    return until(lambda: (row := task(db, task_id))["finished_at"] and row, seconds)


def usage(db: psycopg.Connection, task_id: int) -> list[tuple[str, int | None]]:
    """Return the id and the input tokens of each model call of a task, by id."""
    return db.execute(
        "select u.call_id, u.input_tokens from forebay.attempt_usage as u"
        " join forebay.task_attempts as a using (attempt_id) where a.task_id = %s order by 1",
        [task_id],
    ).fetchall()


def _rows(db: psycopg.Connection, query: str, *arguments: Any) -> list[dict[str, Any]]:
    with db.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(query.encode(), arguments).fetchall()


def _row(db: psycopg.Connection, query: str, *arguments: Any) -> dict[str, Any]:
    (row,) = _rows(db, query, *arguments)
    return row


def diary_pids(diary: Path) -> list[int]:
    """Return the process ids of the attempts that have begun, as the fake agent noted them."""
    lines = diary.read_text().splitlines() if diary.exists() else []
    return [int(line.split()[2]) for line in lines if line.startswith("began")]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone, or going while it is read
        return False


def _die(*_arguments: object, **_named: object) -> None:
    time.sleep(0.7)  # the process has begun its work
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run a daemon until a signal comes: python -m support.daemon LOG_FOLDER SLOTS ACCIDENT."""
    if sys.argv[3] == "die before record_run":
        worker.record_run = _die  # type: ignore[assignment]
    database = Database(os.environ["FOREBAY_DATABASE_URL"])
    local = LocalLauncher(database, Path(sys.argv[1]), int(sys.argv[2]))
    run_until_signalled(Daemon(database, local, pace=QUICK))


if __name__ == "__main__":
    main()
