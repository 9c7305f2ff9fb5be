"""What comes of signals: SIGTERM ends the pages at once and the daemon in its time, and an app or
a daemon that was stopped for a while goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from apps.conftest import Connect, Visit
from apps.support.hints import listening_to
from apps.support.people import PASSWORD
from apps.support.processes import daemons, said, serving
from apps.support.serving import Served
from forebay.calls import operator, submitter
from forebay_apps.web.users import Users
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

WEB_SECONDS = 3.0
PLATFORM_SECONDS = 15.0  # from SIGTERM to SIGKILL on Databricks Apps

Orchestrator = tuple[subprocess.Popen[str], str]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a home with a viewer in it."""
    Users(tmp_path / "users.json").put("vic", "viewer", PASSWORD)
    return tmp_path


@pytest.fixture
def orchestrator_process(
    role_dsn: Callable[..., str],
    db: psycopg.Connection,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Orchestrator]:
    """Run the orchestrator with its daemon, with the fake agent registered."""
    install_fake_agents(monkeypatch)
    register(db)
    with serving("orchestrator", home, FOREBAY_DATABASE_URL=role_dsn("all")) as (process, url):
        yield process, url


@contextmanager
def pages_open(url: str) -> Iterator[None]:
    """Have ten pages open that hear of changes."""
    with (
        httpx.Client(base_url=url, headers={"Origin": url}, timeout=20) as vic,
        ExitStack() as streams,
    ):
        assert vic.post("/login", data={"name": "vic", "password": PASSWORD}).status_code == 303
        for _ in range(10):
            streams.enter_context(listening_to(vic))
        yield


def is_refused(url: str) -> bool:
    where = urlsplit(url)
    try:
        socket.create_connection((where.hostname, where.port), 1).close()
    except OSError:
        return True
    return False


def test_pages_end_at_once_and_a_busy_daemon_before_the_platform_kills_it(
    orchestrator_process: Orchestrator, db: psycopg.Connection, home: Path
) -> None:
    """The attempt ignores SIGTERM: it is killed and its task goes back in line all the same."""
    process, url = orchestrator_process
    diary = home / "diary"
    running = enqueue(db, "ignore SIGTERM", diary=str(diary))
    (pid,) = until(lambda: diary_pids(diary), 60)
    (child,) = daemons(process.pid)
    with pages_open(url):
        process.terminate()
        asked_at = time.monotonic()
        until(lambda: "Waiting for application shutdown" in said(home), WEB_SECONDS)
        assert is_refused(url)
        assert time.monotonic() - asked_at < WEB_SECONDS
        assert process.wait(PLATFORM_SECONDS) == 0
        assert time.monotonic() - asked_at < PLATFORM_SECONDS - 1
    assert not is_alive(child)
    assert not is_alive(pid)
    assert task(db, running)["status"] == "enqueued"
    assert [row["status"] for row in attempts(db, running)] == ["released"]


def test_a_daemon_that_does_not_react_keeps_nobody_waiting(
    orchestrator_process: Orchestrator,
) -> None:
    """It is stopped (SIGSTOP) as the app is to end: it is killed in time."""
    process, _ = orchestrator_process
    (child,) = until(lambda: daemons(process.pid), 60)
    os.kill(child, signal.SIGSTOP)
    process.terminate()
    assert process.wait(PLATFORM_SECONDS - 1) == 0
    assert not is_alive(child)


def test_a_daemon_that_was_stopped_for_a_while_goes_on(
    orchestrator_process: Orchestrator, db: psycopg.Connection
) -> None:
    """What came in meanwhile is done, by the same process."""
    process, url = orchestrator_process
    ended(db, enqueue(db), 60)
    (child,) = daemons(process.pid)
    os.kill(child, signal.SIGSTOP)
    try:
        waiting = enqueue(db)
        time.sleep(2)
        assert task(db, waiting)["status"] == "enqueued"
        assert httpx.get(f"{url}/healthz").text == "ok\n"
    finally:
        os.kill(child, signal.SIGCONT)
    assert ended(db, waiting, 30)["status"] == "completed"
    assert daemons(process.pid) == [child]


def test_an_app_that_was_stopped_for_a_while_is_called_stale_and_then_live(
    role_dsn: Callable[..., str], home: Path, connect: Connect, visit: Visit
) -> None:
    """Nothing answers meanwhile, and the page says how old it is; then it shows what came in."""
    dsn = role_dsn("all")
    with serving("orchestrator", home, "--no-daemon", FOREBAY_DATABASE_URL=dsn) as (process, url):
        operator.register_agent(connect("operator"), agent="a", launcher="pull")
        page = visit(Served("orchestrator", url, home, home, None), "/tasks", "vic")  # type: ignore[arg-type]
        badge = page.locator("[data-liveness]")
        page.wait_for_selector("[data-liveness][data-state=live]")
        process.send_signal(signal.SIGSTOP)
        try:
            task_id = submitter.enqueue(connect("submitter"), agent="a", payload={})
            page.wait_for_selector("[data-liveness][data-state=stale]", timeout=30_000)
            assert "s old" in badge.inner_text()
        finally:
            process.send_signal(signal.SIGCONT)
        page.wait_for_selector(f"#task-{task_id}", timeout=15_000)
        page.wait_for_selector("[data-liveness][data-state=live]", timeout=15_000)
