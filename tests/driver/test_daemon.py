"""The daemon with local processes: what it claims, renews, ends and reports."""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay.calls import operator, worker
from forebay.daemon import Daemon, Pace
from forebay.launchers.local import LocalLauncher
from forebay.pool import Database
from support.daemon import (
    QUICK,
    attempts,
    diary_pids,
    ended,
    enqueue,
    is_alive,
    register,
    running,
    task,
    usage,
)
from support.waiting import until

pytestmark = pytest.mark.usefixtures("fake_agents")
Db = psycopg.Connection


def test_work_is_done_and_reported_twice(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """An agent's result becomes the task's; the report is repeated through the callback."""
    register(db)
    task_id = enqueue(db, "return what JSON cannot hold")
    with running(daemon_dsn, tmp_path):
        row = ended(db, task_id)
        until(lambda: _calls_of(db, "callback") == 1)
    assert (row["status"], row["result"]) == ("completed", {"text": "seen�", "score": None})
    (attempt,) = attempts(db, task_id)
    assert attempt["status"] == "succeeded"
    assert attempt["run_id"].endswith(f"/{attempt['attempt_id']}")


def _calls_of(db: Db, function: str) -> int:
    row = db.execute(
        "select coalesce(sum(s.calls), 0) from pg_stat_user_functions as s where s.funcname = %s",
        [function],
    ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize(
    ("payload", "status", "error"),
    [
        ({"do": "reject"}, "failed", {"kind": "bad_input", "message": "the document is encrypted"}),
        (
            {"do": "raise"},
            "enqueued",
            {"kind": "agent_bug", "message": "ValueError: no such page"},
        ),
        ({"do": "retry"}, "enqueued", {"kind": "overloaded", "message": "the model is busy"}),
        ({"do": "retry in ages"}, "enqueued", {"kind": "infrastructure", "message": "later"}),
        ({"do": "exit", "code": 3}, "enqueued", {"kind": "agent_bug", "exit_code": "3"}),
        ({"do": "exit", "code": 0}, "enqueued", {"kind": "agent_bug", "exit_code": "0"}),
        (
            {"do": "leave"},
            "enqueued",
            {"kind": "agent_bug", "message": "SystemExit: the agent had enough"},
        ),
        ({"do": "return", "text": "x", "times": 2_000_000}, "failed", {"kind": "bad_input"}),
    ],
)
def test_what_goes_wrong_is_reported_for_what_it_is(
    db: Db, daemon_dsn: str, tmp_path: Path, payload: dict[str, Any], status: str, error: Any
) -> None:
    """Reject and what cannot be stored fail for good, everything else comes back in line.

    Only an overloaded model costs no attempt.
    """
    register(db, backoff_base=timedelta(minutes=1))
    task_id = enqueue(db, **payload)
    with running(daemon_dsn, tmp_path):
        row = until(lambda: (row := task(db, task_id))["error"] and row)
    assert row["status"] == status
    assert error.items() <= row["error"].items()
    assert row["attempt_count"] == (0 if error["kind"] == "overloaded" else 1)


def test_retry_waits_as_long_as_it_asked_for(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """Retry(after=…) is how long the task waits."""
    register(db)
    task_id = enqueue(db, "retry")
    with running(daemon_dsn, tmp_path):
        row = until(lambda: (row := task(db, task_id))["error"] and row)
    assert timedelta(minutes=6) < row["available_at"] - datetime.now(UTC) < timedelta(minutes=8)


def test_progress_is_shown(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """The last progress of an agent arrives, however quick it is."""
    register(db)
    task_id = enqueue(db, "report progress")
    with running(daemon_dsn, tmp_path):
        ended(db, task_id)
    (attempt,) = attempts(db, task_id)
    assert (attempt["progress_done"], attempt["progress_total"]) == (4, 4)


def test_usage_is_recorded(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """What an agent says that its model calls used is recorded; a refused call fails nothing."""
    register(db)
    calls = [{"call_id": "a", "input_tokens": 700}, {"input_tokens": 1}, {"call_id": "b"}]
    task_id = enqueue(db, "report usage", calls=calls)
    with running(daemon_dsn, tmp_path):
        assert ended(db, task_id)["status"] == "completed"
    assert usage(db, task_id) == [("a", 700), ("b", None)]


def test_no_more_is_claimed_than_can_be_launched(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """With two slots two tasks run, and the others stay in line for somebody else."""
    register(db)
    ids = [enqueue(db, "sleep", diary=str(diary)) for _ in range(5)]
    with running(daemon_dsn, tmp_path, slots=2):
        until(lambda: len(diary_pids(diary)) == 2)
        time.sleep(0.5)
        statuses = [task(db, task_id)["status"] for task_id in ids]
    assert statuses == ["processing"] * 2 + ["enqueued"] * 3


def test_a_dead_process_is_noticed_at_once(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """A process that dies is reported with its signal long before its lease runs out."""
    register(db, lease=timedelta(minutes=10), backoff_base=timedelta(minutes=1))
    task_id = enqueue(db, "sleep", diary=str(diary))
    with running(daemon_dsn, tmp_path):
        (pid,) = until(lambda: diary_pids(diary))
        os.kill(pid, signal.SIGKILL)
        row = until(lambda: (row := task(db, task_id))["error"] and row)
    assert (row["status"], row["attempt_count"]) == ("enqueued", 1)
    assert (row["error"]["kind"], row["error"]["signal"]) == ("infrastructure", "SIGKILL")


def test_cancel_ends_the_process(db: Db, daemon_dsn: str, tmp_path: Path, diary: Path) -> None:
    """A cancelled task's process is gone soon after the notification, whatever it ignores."""
    register(db, lease=timedelta(minutes=10))
    task_id = enqueue(db, "ignore SIGTERM", diary=str(diary))
    with running(daemon_dsn, tmp_path, pace=Pace(poll_longest=90, sweep=90)):
        (pid,) = until(lambda: diary_pids(diary))
        operator.cancel(db, task_ids=[task_id])
        until(lambda: not is_alive(pid))
        until(lambda: not attempts(db, task_id)[0]["is_stop_pending"])
    assert task(db, task_id)["status"] == "cancelled"


def test_the_deadline_ends_the_process(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """A process that works past its attempt's deadline is ended, and the attempt timed out."""
    register(db, timeout=timedelta(seconds=1.5), lease=timedelta(minutes=1), max_attempts=1)
    task_id = enqueue(db, "ignore SIGTERM", diary=str(diary))
    with running(daemon_dsn, tmp_path):
        (pid,) = until(lambda: diary_pids(diary))
        until(lambda: not is_alive(pid))
        row = ended(db, task_id)
    assert (row["status"], row["error"]["kind"]) == ("failed", "timeout")
    assert attempts(db, task_id)[0]["error"]["kind"] == "timeout"


def test_a_refused_launch_costs_nothing(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """An entry point that is not installed sends the task back unspent, and holds up no other."""
    register(db, "typo", entry_point="fkae")
    register(db)
    refused = enqueue(db, agent="typo")
    with running(daemon_dsn, tmp_path, slots=1):
        ended(db, enqueue(db))
        until(lambda: task(db, refused)["release_count"] == 1)
    assert task(db, refused)["attempt_count"] == 0
    (attempt,) = attempts(db, refused)
    assert attempt["status"] == "released"
    assert 'entry point "fkae"' in attempt["error"]["message"]


def test_daemons_side_by_side_share_the_work(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """Two daemons do every task once."""
    register(db)
    ids = [enqueue(db, diary=str(diary)) for _ in range(8)]
    with running(daemon_dsn, tmp_path / "a") as a, running(daemon_dsn, tmp_path / "b") as b:
        for task_id in ids:
            ended(db, task_id, 20)
    workers = {attempt["worker"] for task_id in ids for attempt in attempts(db, task_id)}
    assert workers == {a.worker, b.worker}
    assert len(diary_pids(diary)) == 8


def test_dx3_a_claim_that_became_somebody_elses_is_not_launched(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon held up between claim and launch asks for its lease before it starts anything."""
    register(db, lease=timedelta(seconds=0.5))
    task_id = enqueue(db, diary=str(diary))
    claim = worker.dequeue
    held_up: list[int] = []

    def slow_dequeue(connection: Db, **arguments: Any) -> Any:
        claimed = claim(connection, **arguments)
        if claimed and not held_up:
            held_up.append(claimed[0].attempt_id)
            time.sleep(1)
            worker.sweep(connection)
        return claimed

    monkeypatch.setattr(worker, "dequeue", slow_dequeue)
    with running(daemon_dsn, tmp_path):
        ended(db, task_id)
    first, second = attempts(db, task_id)
    assert [first["attempt_id"]] == held_up
    assert (first["status"], second["status"]) == ("lost", "succeeded")
    assert f"began {first['attempt_id']} " not in diary.read_text()


def test_le2_long_work_keeps_its_lease(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """Work that takes several leases is never started a second time."""
    register(db, lease=timedelta(seconds=1))
    task_id = enqueue(db, "sleep", seconds=2.5, diary=str(diary))
    with running(daemon_dsn, tmp_path):
        assert ended(db, task_id)["status"] == "completed"
    assert len(diary_pids(diary)) == 1
    assert len(attempts(db, task_id)) == 1


def test_lj5_cancel_and_leases_work_until_the_last_process_ends(
    db: Db, daemon_dsn: str, tmp_path: Path, diary: Path
) -> None:
    """A daemon that waits for its last process still renews its lease, and still hears a cancel."""
    register(db, lease=timedelta(seconds=1))
    task_id = enqueue(db, "ignore SIGTERM", diary=str(diary))
    with running(daemon_dsn, tmp_path, pace=Pace(stop_grace=90)) as daemon:
        (pid,) = until(lambda: diary_pids(diary))
        daemon.stop()
        time.sleep(2)
        assert is_alive(pid)
        assert attempts(db, task_id)[0]["status"] == "running"
        assert attempts(db, task_id)[0]["lease_expires_at"] > datetime.now(UTC)
        operator.cancel(db, task_ids=[task_id])
        until(lambda: not is_alive(pid))
    assert len(attempts(db, task_id)) == 1


def test_sw2_recovery_needs_no_worker_table(
    db: Db, daemon_dsn: str, superuser: Db, tmp_path: Path
) -> None:
    """A task whose worker is not known any more comes back by its lease alone."""
    register(db, lease=timedelta(seconds=0.5))
    task_id = enqueue(db)
    worker.dequeue(db, worker="gone", launchers=["local"])
    superuser.execute("delete from forebay.dispatchers")
    with running(daemon_dsn, tmp_path):
        assert ended(db, task_id)["status"] == "completed"
    assert [attempt["status"] for attempt in attempts(db, task_id)] == ["lost", "succeeded"]


def test_sw3_a_worker_id_is_new_at_every_start(tmp_path: Path) -> None:
    """Two daemons of one machine, even of one process, never renew each other's leases."""
    database = Database("dbname=none")
    names = {Daemon(database, LocalLauncher(database, tmp_path, 1)).worker for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith(os.uname().nodename) for name in names)


def test_a_failing_step_does_not_stop_the_others(
    db: Db, daemon_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon works on, and goes on renewing, while one of its steps raises."""

    def broken_sweep(connection: Db, **arguments: Any) -> None:
        raise RuntimeError("broken on purpose")

    register(db)
    monkeypatch.setattr(worker, "sweep", broken_sweep)
    with running(daemon_dsn, tmp_path, pace=QUICK):
        assert ended(db, enqueue(db))["status"] == "completed"
