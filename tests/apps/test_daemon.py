"""The daemon beside the dashboard: kept running, stopped with it, and its tasks are safe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from apps.support.processes import daemons
from forebay.settings import DATABASE_URL
from forebay_apps.orchestrator import daemon
from forebay_apps.orchestrator.daemon import Supervisor
from support.daemon import (
    attempts,
    diary_pids,
    ended,
    enqueue,
    install_fake_agents,
    is_alive,
    register,
    task,
)
from support.waiting import until


@pytest.fixture
def orchestrator_process(
    role_dsn: Callable[..., str],
    db: psycopg.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `forebay serve orchestrator` as a process, with the fake agent registered."""
    install_fake_agents(monkeypatch)
    register(db)
    process = subprocess.Popen(
        [sys.executable, "-m", "forebay.cli", "serve", "orchestrator", "--port", "0"],
        env=os.environ | {DATABASE_URL: role_dsn("all"), "FOREBAY_HOME": str(tmp_path)},
    )
    try:
        yield process
    finally:
        children = daemons(process.pid)
        process.kill()
        process.wait()
        for pid in children:
            until(lambda pid=pid: not is_alive(pid), 20)


def test_sigterm_stops_both_and_the_tasks_go_back(
    orchestrator_process: subprocess.Popen[bytes], db: psycopg.Connection, tmp_path: Path
) -> None:
    """What runs is ended and put back in line without costing an attempt; nothing is left."""
    diary = tmp_path / "diary"
    done, running = enqueue(db), enqueue(db, "sleep", diary=str(diary))
    ended(db, done, 60)
    (pid,) = until(lambda: diary_pids(diary), 30)
    (child,) = daemons(orchestrator_process.pid)
    orchestrator_process.terminate()
    assert orchestrator_process.wait(30) == 0
    assert not is_alive(child)
    assert not is_alive(pid)
    assert task(db, running)["status"] == "enqueued"
    assert [row["status"] for row in attempts(db, running)] == ["released"]


def test_a_daemon_that_was_killed_is_started_again(
    orchestrator_process: subprocess.Popen[bytes], db: psycopg.Connection
) -> None:
    """By the supervisor, which goes on serving; what comes in later is done."""
    (first,) = until(lambda: daemons(orchestrator_process.pid), 60)
    ended(db, enqueue(db), 60)
    os.kill(first, signal.SIGKILL)
    until(lambda: daemons(orchestrator_process.pid) not in ([], [first]), 30)
    assert ended(db, enqueue(db), 60)["status"] == "completed"
    assert orchestrator_process.poll() is None


def test_the_daemon_ends_when_its_parent_was_killed(
    orchestrator_process: subprocess.Popen[bytes], db: psycopg.Connection, tmp_path: Path
) -> None:
    """As by SIGTERM: what runs goes back in line, and no daemon stays that nobody looks after."""
    diary = tmp_path / "diary"
    running = enqueue(db, "sleep", diary=str(diary))
    until(lambda: diary_pids(diary), 60)
    (child,) = daemons(orchestrator_process.pid)
    orchestrator_process.kill()
    until(lambda: not is_alive(child), 30)
    assert task(db, running)["status"] == "enqueued"


def test_the_daemon_has_none_of_the_dashboards_secrets() -> None:
    """Nor have the agents that it runs; the database's login is its own, where one is set."""
    given = {
        DATABASE_URL: "postgresql://app@host/db",
        "FOREBAY_SESSION_KEY": "s",
        "FOREBAY_USERS": "s",
        "FOREBAY_METRICS_TOKEN": "s",
        "FOREBAY_WEBHOOK_URL": "s",
        "FOREBAY_WEBHOOK_SECRET": "s",
    }
    kept = {"PATH": "/bin", "FOREBAY_CALLBACK_SECRETS": "whsec_x", "FOREBAY_MODEL": "m"}
    assert daemon.environment_of(given | kept) == kept | {DATABASE_URL: given[DATABASE_URL]}
    own = {"FOREBAY_DAEMON_DATABASE_URL": "postgresql://daemon@host/db"}
    found = daemon.environment_of(given | kept | own)
    assert found == kept | {DATABASE_URL: own["FOREBAY_DAEMON_DATABASE_URL"]}


def test_the_child_works_with_that_environment(
    role_dsn: Callable[..., str],
    db: psycopg.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a login that may do no more than a daemon; its attempts see nothing else."""
    install_fake_agents(monkeypatch)
    register(db)
    variables = {
        DATABASE_URL: "postgresql://nobody@127.0.0.1:1/nothing",
        "FOREBAY_DAEMON_DATABASE_URL": role_dsn("worker", "agent"),
        "FOREBAY_SESSION_KEY": "not for agents",
    }
    diary = tmp_path / "diary"
    with supervised(tmp_path, **variables) as supervisor:
        enqueue(db, "sleep", diary=str(diary))
        (pid,) = until(lambda: diary_pids(diary), 60)
        for process in (pid, supervisor.state.pid):
            environment = Path(f"/proc/{process}/environ").read_text()
            assert "not for agents" not in environment
            assert variables[DATABASE_URL] not in environment


DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""


@contextmanager
def supervised(tmp_path: Path, *options: str, **variables: str) -> Iterator[Supervisor]:
    """Run a supervisor that waits only shortly before it starts a daemon again."""
    own = {**os.environ, "FOREBAY_HOME": str(tmp_path), **variables}
    supervisor = Supervisor(own, options, pauses=(0.05, 0.2))
    supervisor.start()
    try:
        yield supervisor
    finally:
        supervisor.stop()


def test_a_daemon_that_cannot_begin_is_tried_again(tmp_path: Path) -> None:
    """With growing pauses and its exit code in the state, until the supervisor is stopped."""
    where = {DATABASE_URL: "host=/nowhere user=nobody"}
    with supervised(tmp_path, "--concurrency", "no number", **where) as supervisor:
        until(lambda: supervisor.state.restarts > 1, 60)
        assert supervisor.state.last_exit_code == 2
        until(lambda: supervisor.state.starts_again_at, 30)
    assert supervisor.state.pid is None


def test_a_stop_at_any_moment_leaves_nothing(role_dsn: Callable[..., str], tmp_path: Path) -> None:
    """Before the child has begun, and while it begins."""
    for wait in (False, True):
        with supervised(tmp_path, **{DATABASE_URL: role_dsn("all")}) as supervisor:
            if wait:
                until(lambda: supervisor.state.pid, 30)
            pid = supervisor.state.pid
        assert pid is None or not is_alive(pid)
        assert supervisor.state.pid is None


def test_a_daemon_that_does_not_stop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while, so that the app ends."""
    monkeypatch.setattr(daemon, "STOP_SECONDS", 0.3)
    started = []

    def start(self: Supervisor, lifeline: int) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(Supervisor, "_started", start)
    with supervised(tmp_path):
        until(lambda: started, 10)
        assert started[0].stdout.readline() == b"deaf\n"
    assert started[0].returncode == -signal.SIGKILL
