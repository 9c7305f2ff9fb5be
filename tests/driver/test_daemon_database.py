"""The daemon and its database: restarts, lost listeners, and how little it asks when idle."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay.calls import worker
from forebay.daemon import Pace
from forebay.embedded import Server
from forebay.schema import upgrade
from support.daemon import attempts, enqueue, register, running, task
from support.server import roomy_folder
from support.waiting import until

pytestmark = pytest.mark.usefixtures("fake_agents")
Db = psycopg.Connection
BY_NOTIFICATION = Pace(poll_first=60, poll_longest=60, sweep=60)
LISTENER = """
select s.pid from pg_stat_activity as s
where s.application_name = 'forebay listener' and s.datname = current_database()
"""
SILENCE = """
select setval('forebay.work_notified_until', (extract(epoch from now()) * 1000)::bigint + 900)
"""


@pytest.fixture
def own_server() -> Iterator[Server]:
    """Run a server that the test may stop."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-daemon-", dir=roomy_folder()))
    folder.chmod(0o755)
    server = Server(folder / "pg", durable=False)
    try:
        upgrade(server.start())
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def dequeues(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collect the times at which this process asks for work."""
    asked: list[float] = []
    dequeue = worker.dequeue

    def counting(connection: Db, **arguments: object) -> object:
        asked.append(time.monotonic())
        return dequeue(connection, **arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(worker, "dequeue", counting)
    return asked


def is_completed(db: Db, task_id: int) -> bool:
    return bool(task(db, task_id)["status"] == "completed")


def listener(db: Db) -> int | None:
    row = db.execute(LISTENER.encode()).fetchone()
    return row[0] if row else None


def test_a_daemon_stops_also_while_it_waits_for_a_lock(
    superuser: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    """What it asks is cancelled: the lock may be held for longer than a stop may take."""
    waits = """
    select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%forebay.%'
    """
    with psycopg.connect(superuser.info.dsn) as locker:
        with running(daemon_dsn, tmp_path):
            until(lambda: superuser.execute("select 1 from forebay.dispatchers").fetchone())
            locker.execute("lock table forebay.tasks, forebay.agents in access exclusive mode")
            until(lambda: superuser.execute(waits).fetchone())
        locker.rollback()  # the daemon has ended, in less time than a statement may take


def test_a_database_restart_is_survived(own_server: Server, tmp_path: Path) -> None:
    """Work that runs while the database is away is finished once, and new work is found after."""
    dsn = own_server.start()
    with psycopg.connect(dsn, autocommit=True) as db:
        register(db)
        during = enqueue(db, "sleep", seconds=1.5, diary=str(tmp_path / "diary"))
    with running(dsn, tmp_path, pace=BY_NOTIFICATION):
        until((tmp_path / "diary").exists)
        own_server.stop()
        time.sleep(2)
        own_server.start()
        with psycopg.connect(dsn, autocommit=True) as db:
            until(lambda: is_completed(db, during))
            after = enqueue(db)
            until(lambda: is_completed(db, after))
            assert len(attempts(db, during)) == 1


def test_nt3_a_lost_listener_comes_back(
    db: Db, daemon_dsn: str, superuser: Db, tmp_path: Path
) -> None:
    """Work is found by notification again after the listening connection was cut."""
    register(db)
    with running(daemon_dsn, tmp_path, pace=BY_NOTIFICATION):
        first = until(lambda: listener(superuser))
        superuser.execute("select pg_terminate_backend(%s)", [first])
        until(lambda: listener(superuser) not in (None, first))
        task_id = enqueue(db)
        until(lambda: is_completed(db, task_id))


def test_polling_alone_is_enough(
    db: Db, daemon_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a listener work is found all the same."""
    monkeypatch.setattr("forebay.listen.Listener.start", lambda self: None)
    monkeypatch.setattr("forebay.listen.Listener.stop", lambda self: None)
    register(db)
    with running(daemon_dsn, tmp_path):
        time.sleep(0.5)
        task_id = enqueue(db)
        until(lambda: is_completed(db, task_id))


def test_a_notification_wakes_it(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """A task is begun long before the next poll."""
    register(db)
    with running(daemon_dsn, tmp_path, pace=BY_NOTIFICATION):
        until(lambda: listener(db))
        time.sleep(0.3)
        task_id = enqueue(db)
        until(lambda: is_completed(db, task_id))


def test_a_silenced_notification_after_a_productive_one_is_not_missed(
    db: Db, superuser: Db, daemon_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon looks once more after the look that found nothing, also when one before it did."""
    found: list[int] = []
    late: list[int] = []
    dequeue = worker.dequeue

    def overtaken(connection: Db, **arguments: Any) -> Any:
        claimed = dequeue(connection, **arguments)
        if found and not claimed and not late:
            superuser.execute(SILENCE.encode())
            late.append(enqueue(superuser))
        found.extend(one.task_id for one in claimed)
        return claimed

    register(db)
    with running(daemon_dsn, tmp_path, pace=BY_NOTIFICATION):
        until(lambda: listener(superuser))
        time.sleep(0.5)
        monkeypatch.setattr(worker, "dequeue", overtaken)
        first = enqueue(db, "sleep", seconds=20)
        until(lambda: late and is_completed(db, late[0]), 15)
        assert not is_completed(db, first)


def test_nt7_one_enqueue_does_not_wake_every_slot(
    db: Db, daemon_dsn: str, tmp_path: Path, dequeues: list[float]
) -> None:
    """A daemon asks once for all of its slots, and looks once more: not once a slot."""
    register(db)
    with running(daemon_dsn, tmp_path, slots=16, pace=BY_NOTIFICATION):
        until(lambda: listener(db))
        time.sleep(0.5)
        dequeues.clear()
        task_id = enqueue(db)
        until(lambda: is_completed(db, task_id))
        time.sleep(0.3)
    assert 1 <= len(dequeues) <= 10


def test_pf9_an_idle_daemon_asks_ever_less(
    db: Db, daemon_dsn: str, tmp_path: Path, dequeues: list[float]
) -> None:
    """The pause between two polls grows while there is nothing to do."""
    register(db)
    pace = Pace(poll_first=0.05, poll_longest=5, sweep=60)
    with running(daemon_dsn, tmp_path, pace=pace):
        time.sleep(2.5)
        pauses = [later - earlier for earlier, later in pairwise(dequeues)]
    assert len(dequeues) <= 12
    assert max(pauses) > 0.5


def test_a_notification_nobody_sent_is_not_needed_for_due_work(
    db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    """A task that becomes due later is begun by a poll."""
    register(db, backoff_base=timedelta(seconds=0.5), backoff_max=timedelta(seconds=0.5))
    task_id = enqueue(db, "exit", code=1)
    with running(daemon_dsn, tmp_path):
        until(lambda: len(attempts(db, task_id)) == 3)
