"""Work goes on over credentials of five seconds, cuts, wake-ups and failovers: nothing is lost."""

from __future__ import annotations

import itertools
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from forebay import Task, Worker
from forebay.calls import submitter, viewer
from forebay.errors import ConnectError
from forebay.listen import Listener
from forebay.pool import Database
from forebay_apps.web.database import Connections
from forebay_lab.gateway import Gateway
from support import daemon, worker
from support.lakebase import Lake, everything_logged, lakebase
from support.server import TestServer

LIFE = 5  # seconds, of a credential
AWAY = (psycopg.OperationalError, ConnectError)
DISTURBANCES: tuple[Callable[[Gateway], None], ...] = (
    lambda gateway: gateway.cut(),
    lambda gateway: gateway.sleep(0.6, "starts"),
    lambda gateway: gateway.fail_over(0.6),
    lambda gateway: gateway.sleep(0.6, "refuses"),
    lambda gateway: gateway.sleep(0.6, "holds"),
)


@pytest.fixture(params=[False, True], ids=["autoscaling", "provisioned"])
def lake(
    request: pytest.FixtureRequest,
    server: TestServer,
    superuser: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Lake]:
    """Serve a Lakebase of either kind whose credentials last for five seconds."""
    for name in [name for name in os.environ if name.startswith(("DATABRICKS", "PG"))]:
        monkeypatch.delenv(name)
    daemon.install_fake_agents(monkeypatch)
    dbname = superuser.info.dbname
    with lakebase(server, dbname, seconds=LIFE, provisioned=request.param) as lake:
        for name, value in lake.environment.items():
            monkeypatch.setenv(name, value)
        yield lake


@pytest.fixture
def everything_said() -> Iterator[list[str]]:
    """Keep every record of the log."""
    with everything_logged() as said:
        yield said


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", [10, pytest.param(60, marks=pytest.mark.long)])
def test_cp1_no_error_reaches_a_task(
    lake: Lake,
    db: psycopg.Connection,
    tmp_path: Path,
    everything_said: list[str],
    seconds: int,
) -> None:
    """Every task is completed by its first attempt; tokens are in no log and no output.

    The daemon runs processes, a worker its handler, a listener hears of new work, and an app hands
    it in. Lines are cut for age and for idleness, and all at once.
    """
    daemon.register(db)
    worker.register(db, lease=timedelta(seconds=20))
    lake.gateway.lifetime_seconds, lake.gateway.idle_seconds = 4, 3
    heard = itertools.count()
    database = Database(lake.url)
    listener = Listener(database, lambda: next(heard), probe_every=1)
    listener.start()
    with daemon.running(lake.url, tmp_path), _working(lake.url), _disturbed(lake.gateway):
        task_ids = _hand_in(Connections(database), seconds)
        for task_id in task_ids:
            assert daemon.ended(db, task_id, 60)["status"] == "completed"
    listener.stop()
    assert next(heard) > seconds / 2
    for task_id in task_ids:
        (attempt,) = daemon.attempts(db, task_id)
        assert (attempt["status"], attempt["error"]) == ("succeeded", None)
    assert len(task_ids) > seconds / 2
    assert lake.asked >= seconds / LIFE
    assert "28P01" not in {login.outcome for login in lake.gateway.logins}
    said = "".join([*everything_said, *(log.read_text() for log in tmp_path.glob("*.log"))])
    assert lake.tokens_in(said) == []


def test_cp1_credentials_that_end_are_noticed_by_nobody(
    lake: Lake, db: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing else happens, not one call fails over the lives of several credentials."""
    caplog.set_level(logging.WARNING)
    worker.register(db)
    connections = Connections(Database(lake.url))
    lake.gateway.lifetime_seconds = None
    until = time.monotonic() + 3 * LIFE
    with Database(lake.url).open_pool(max_size=2) as pool:
        while time.monotonic() < until:
            with pool.connection() as conn:
                viewer.agent_status(conn)
            with connections.as_role("submitter") as conn:
                submitter.enqueue(conn, agent="parse", payload={})
            Database(lake.url).connect().close()
            time.sleep(0.2)
    connections.close()
    assert {login.outcome for login in lake.gateway.logins} == {"ok"}
    assert lake.asked >= 3
    assert caplog.records == []


def _hand_in(connections: Connections, seconds: float) -> list[int]:
    """Hand in tasks as an app does, each until it is taken; return their ids."""
    task_ids = []
    until = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() > until:
            break
        agent = "parse" if number % 25 else "fake"
        while True:
            try:
                with connections.as_role("submitter") as conn:
                    key, payload = f"task {number}", {"do": "nothing"}
                    task_ids.append(
                        submitter.enqueue(conn, agent=agent, payload=payload, idempotency_key=key)
                    )
                break
            except AWAY:
                time.sleep(0.1)
        time.sleep(0.1)
    connections.close()
    return task_ids


@contextmanager
def _working(url: str) -> Iterator[None]:
    """Run a pull worker beside the block."""
    pulling = Worker(url, agent="parse", concurrency=4, poll=timedelta(seconds=0.5))

    @pulling.handler
    def handle(task: Task) -> dict[str, int]:
        task.progress(1, 2)
        task.usage({"call_id": "1", "model": "m", "input_tokens": 3, "output_tokens": 1})
        time.sleep(random.uniform(0, 0.4))
        return {"n": task.task_id}

    thread = threading.Thread(target=pulling.run)
    thread.start()
    try:
        yield
    finally:
        pulling.stop()
        thread.join(40)
        assert not thread.is_alive()


@contextmanager
def _disturbed(gateway: Gateway) -> Iterator[None]:
    """Have something befall the database every three seconds of the block."""
    stop = threading.Event()

    def disturb() -> None:
        for befall in itertools.cycle(DISTURBANCES):
            if stop.wait(3):
                break
            befall(gateway)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
