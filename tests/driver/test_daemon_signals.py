"""Daemons in processes of their own, under SIGTERM, SIGKILL and SIGSTOP."""

from __future__ import annotations

import signal
import time
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from support.daemon import (
    attempts,
    daemon_process,
    diary_pids,
    ended,
    enqueue,
    is_alive,
    register,
    running,
    task,
)
from support.waiting import until

pytestmark = pytest.mark.usefixtures("fake_agents")
Db = psycopg.Connection


def statuses(db: Db, task_id: int) -> list[str]:
    return [attempt["status"] for attempt in attempts(db, task_id)]


@pytest.mark.parametrize(
    ("number", "do"),
    [(signal.SIGTERM, "sleep"), (signal.SIGINT, "sleep"), (signal.SIGTERM, "ignore SIGTERM")],
)
def test_lj2_a_graceful_stop_hands_work_back_unspent(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path, number: int, do: str
) -> None:
    """SIGTERM ends the processes, also those that resist, and their tasks are due again at once."""
    register(db, lease=timedelta(minutes=10))
    task_id = enqueue(db, do, diary=str(diary))
    with daemon_process(daemon_dsn, tmp_path) as daemon:
        (pid,) = until(lambda: diary_pids(diary))
        daemon.send_signal(number)
        assert daemon.wait(6) == 0
    assert not is_alive(pid)
    row = task(db, task_id)
    assert (row["status"], row["attempt_count"], row["is_ready"]) == ("enqueued", 0, True)
    assert statuses(db, task_id) == ["released"]


def test_lj1_a_killed_daemon_costs_one_lease(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """SIGKILL ends daemon and process; after the lease another daemon does the task, unasked."""
    register(db, lease=timedelta(seconds=1))
    task_id = enqueue(db, "sleep", seconds=1, diary=str(diary))
    with daemon_process(daemon_dsn, tmp_path) as daemon:
        (pid,) = until(lambda: diary_pids(diary))
        daemon.kill()
        until(lambda: not is_alive(pid), 1)
    with running(daemon_dsn, tmp_path):
        assert ended(db, task_id)["status"] == "completed"
    assert statuses(db, task_id) == ["lost", "succeeded"]
    assert f"ended {attempts(db, task_id)[0]['attempt_id']} " not in diary.read_text()


def test_killed_between_launch_and_record_nothing_runs_twice(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """A daemon that dies before it recorded its run leaves no process behind to work on."""
    register(db, lease=timedelta(seconds=1))
    task_id = enqueue(db, "sleep", seconds=1.5, diary=str(diary))
    with daemon_process(daemon_dsn, tmp_path, "die before record_run") as daemon:
        assert daemon.wait(10) == -signal.SIGKILL
    with running(daemon_dsn, tmp_path):
        assert ended(db, task_id)["status"] == "completed"
    lost, succeeded = attempts(db, task_id)
    assert (lost["status"], lost["run_id"]) == ("lost", None)
    assert succeeded["status"] == "succeeded"
    assert diary.read_text().count("ended") == 1


def test_a_stopped_daemon_is_overtaken_and_told_so(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """After SIGSTOP for longer than a lease the task is done elsewhere, the old process ended."""
    register(db, lease=timedelta(seconds=1))
    task_id = enqueue(db, "sleep", seconds=30, diary=str(diary))
    with daemon_process(daemon_dsn, tmp_path, slots=1) as stopped:
        (old,) = until(lambda: diary_pids(diary))
        stopped.send_signal(signal.SIGSTOP)
        with running(daemon_dsn, tmp_path, slots=1):
            _, new = until(lambda: len(pids := diary_pids(diary)) == 2 and pids)
            stopped.send_signal(signal.SIGCONT)
            until(lambda: not is_alive(old), 20)
            assert is_alive(new)
            assert statuses(db, task_id) == ["lost", "running"]


def test_a_daemon_that_cannot_start_says_why(tmp_path: Path) -> None:
    """A wrong DSN ends the daemon at once, with a sentence."""
    with daemon_process("host=/nonexistent dbname=forebay", tmp_path) as daemon:
        assert daemon.wait(10) == 1


def test_two_signals_are_one_stop(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """A second SIGTERM does not disturb the stop that the first one began."""
    with daemon_process(daemon_dsn, tmp_path) as daemon:
        until(
            lambda: db.execute(
                "select 1 from pg_stat_activity where application_name"
                " = 'forebay listener' and datname = current_database()"
            ).fetchone()
        )
        for _ in range(3):
            daemon.send_signal(signal.SIGTERM)
            time.sleep(0.01)
        assert daemon.wait(5) == 0
