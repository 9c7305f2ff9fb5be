"""Leases are kept by the database's clock, whatever this machine's says, over whichever line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from forebay import Task, Worker
from forebay.calls import agent, operator, submitter, worker
from forebay.calls.viewer import server_time
from forebay.daemon import Pace
from forebay.leases import Lease, read_clock
from forebay.pool import Database
from forebay.renewal import LeaseKeeper
from forebay.run_attempt import run_attempt
from forebay.running_attempt import RunningAttempt
from support.daemon import attempts, enqueue, register, running, task
from support.relay import Relay

Db = psycopg.Connection
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


@pytest.fixture(params=[HOUR, -HOUR], ids=["ahead", "behind"])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> timedelta:
    """Set the clock of this machine an hour wrong, as far as the driver can see it."""
    error: timedelta = request.param
    right = time.time

    class WrongDatetime(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.fromtimestamp(right(), tz) + error

    monkeypatch.setattr(time, "time", lambda: right() + error.total_seconds())
    for name, module in list(sys.modules.items()):
        if name.startswith("forebay.") and hasattr(module, "datetime"):
            monkeypatch.setattr(module, "datetime", WrongDatetime)
    return error


def sweep_until_ended(db: Db, task_id: int) -> None:
    """Sweep all the time, so that a lease that runs out is a lost one."""
    give_up_at = time.monotonic() + 10
    while task(db, task_id)["finished_at"] is None:
        assert time.monotonic() < give_up_at
        worker.sweep(db)
        time.sleep(0.05)


def test_tm1_a_daemon_with_a_wrong_clock_keeps_short_leases(
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
    fake_agents: None,
    wrong_clock: timedelta,
) -> None:
    """Work of several leases is done in one attempt, without a poll that would ask about it."""
    register(db, lease=2 * SECOND)
    task_id = enqueue(db, "sleep", seconds=4)
    idle = Pace(poll_first=60, poll_longest=60, sweep=60)
    with running(daemon_dsn, tmp_path, pace=idle):
        sweep_until_ended(db, task_id)
    assert [attempt["status"] for attempt in attempts(db, task_id)] == ["succeeded"]


def test_tm1_a_worker_with_a_wrong_clock_keeps_short_leases(
    db: Db, daemon_dsn: str, wrong_clock: timedelta
) -> None:
    """The handler works through several leases, and nothing tells it to stop."""
    operator.register_agent(db, agent="parse", lease=SECOND)
    task_id = submitter.enqueue(db, agent="parse", payload={})
    one = Worker(daemon_dsn, agent="parse")

    @one.handler
    def handle(task: Task) -> dict[str, bool]:
        time.sleep(2.5)
        return {"cancelled": task.cancelled()}

    assert one.run(until_empty=True) == 1
    assert task(db, task_id)["result"] == {"cancelled": False}
    assert [attempt["status"] for attempt in attempts(db, task_id)] == ["succeeded"]


def test_tm1_an_attempt_with_a_wrong_clock_reports_until_its_deadline(
    db: Db,
    daemon_dsn: str,
    fake_agents: None,
    wrong_clock: timedelta,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A report that cannot be made is tried again while the database's clock leaves it time."""
    document = {
        **{"task_id": 1, "attempt_id": 1, "attempt_no": 1, "agent": "fake", "payload": {}},
        "entry_point": "fake",
        "conninfo": daemon_dsn,
        "deadline_at": (server_time(db) + SECOND).isoformat(),
    }

    def is_away(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("the database is away")

    monkeypatch.setattr(agent, "complete", is_away)
    attempt = RunningAttempt(document, lambda: False)
    attempt.connection()
    began = time.monotonic()
    with pytest.raises(psycopg.OperationalError):
        run_attempt(attempt)
    assert 0.5 < time.monotonic() - began < 4


@pytest.fixture
def lease(db: Db) -> Lease:
    """Claim a task as worker `w`, with a lease of 3 s, and return its lease."""
    operator.register_agent(db, agent="parse", lease=3 * SECOND)
    submitter.enqueue(db, agent="parse", payload={})
    (claimed,) = worker.dequeue(db, worker="w", agents=["parse"])
    local = read_clock(db)
    return Lease(
        claimed.attempt_id,
        expires=local(claimed.lease_expires_at),
        deadline=local(claimed.deadline_at),
    )


@contextmanager
def kept(keeper: LeaseKeeper, lease: Lease) -> Iterator[None]:
    """Have the keeper keep the lease during the block."""
    keeper.start()
    keeper.add([lease])
    try:
        yield
    finally:
        keeper.stop()


def test_le9_a_renewal_over_a_dead_line_is_made_over_another(
    db: Db, role_dsn: Callable[..., str], lease: Lease
) -> None:
    """The line goes dead without a word: the lease is renewed all the same, before it expires."""
    where = conninfo_to_dict(role_dsn("worker"))
    relay = Relay(f"{where['host']}/.s.PGSQL.{where['port']}")
    dsn = make_conninfo(role_dsn("worker"), host="127.0.0.1", port=relay.port)
    keeper = LeaseKeeper(Database(dsn), "w")
    with closing(relay), kept(keeper, lease):
        time.sleep(1.5)
        relay.go_dead()
        time.sleep(5)
        worker.sweep(db)
        assert not lease.is_over


def test_a_lease_can_be_asked_about_after_its_line_was_cut(
    role_dsn: Callable[..., str], superuser: Db, lease: Lease
) -> None:
    """Whoever asks for a renewal right away gets it, though the connection died while idle."""
    keeper = LeaseKeeper(Database(role_dsn("worker")), "w")
    with kept(keeper, lease):
        keeper.renew([lease])
        superuser.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'test_worker'"
        )
        before = lease.expires
        time.sleep(0.1)
        keeper.renew([lease])
        assert lease.expires > before


def test_the_first_answer_that_a_lease_is_over_is_kept(
    db: Db, role_dsn: Callable[..., str], lease: Lease
) -> None:
    """It is told of once, and nobody asks again."""
    told: list[tuple[int, str]] = []
    keeper = LeaseKeeper(
        Database(role_dsn("worker")), "w", lambda over: told.append((over.attempt_id, over.state))
    )
    db.execute("update forebay.task_attempts set worker = 'somebody else'")
    with kept(keeper, lease):
        keeper.renew([lease])
        keeper.renew([lease])
    assert told == [(lease.attempt_id, "lost")]
    assert lease.is_over
