"""The listener: wakes at once, comes back by itself, and says when it does not hear."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from forebay.calls import operator, submitter
from forebay.embedded import Server
from forebay.listen import CHANGES, WORK, Listener
from forebay.pool import Database
from support.relay import Relay
from support.server import running_server
from support.waiting import PATIENCE, until

DSN = Callable[..., str]
LISTENERS = "select pid from pg_stat_activity where application_name = 'forebay listener'"


class Woken:
    """Count the calls of `wake`, and wait for the next one."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def __call__(self) -> None:
        self._event.set()

    def within(self, seconds: float) -> bool:
        """Tell whether `wake` was called since the last time that this was asked, or is soon."""
        was_called = self._event.wait(seconds)
        self._event.clear()
        return was_called


@contextmanager
def listening(dsn: str, woken: Woken, **options: float) -> Iterator[Listener]:
    """Run a listener, and wait until it hears."""
    listener = Listener(Database(dsn), woken, channels=(WORK, CHANGES), **options)
    listener.start()
    try:
        assert woken.within(PATIENCE)
        yield listener
    finally:
        listener.stop()


def test_an_enqueue_wakes_the_listener(
    role_dsn: DSN, connect: Callable[..., psycopg.Connection]
) -> None:
    """Work that arrives is known within a fraction of a second, and quiet is quiet."""
    conn, woken = connect("all"), Woken()
    operator.register_agent(conn, agent="parse")
    with listening(role_dsn("worker"), woken) as listener:
        assert listener.is_listening
        while woken.within(0.3):  # what registering the agent left behind
            pass
        submitter.enqueue(conn, agent="parse", payload={})
        assert woken.within(1)
    assert not listener.is_listening


def test_nt3_a_listener_that_was_cut_comes_back_and_asks_for_a_full_look(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """After every reconnection `wake` is called, since what was notified meanwhile is lost."""
    woken = Woken()
    with listening(role_dsn("worker"), woken) as listener:
        (before,) = superuser.execute(LISTENERS).fetchall()
        superuser.execute("select pg_terminate_backend(%s)", before)
        assert woken.within(5)
        assert listener.is_listening
        assert superuser.execute(LISTENERS).fetchall() != [before]
        superuser.execute("notify forebay_work")
        assert woken.within(1)
        superuser.execute("notify forebay_changes")
        assert woken.within(1)


def test_nt3_a_listener_survives_a_restart_of_the_server() -> None:
    """The server goes and comes back: so does the listener."""
    with running_server() as other:
        server = Server(Path(other.host), durable=False)
        woken = Woken()
        with listening(other.dsn(other.user, "postgres"), woken) as listener:
            server.stop()
            until(lambda: not listener.is_listening)
            server.start()
            assert woken.within(10)
            with other.superuser() as conn:
                conn.execute("notify forebay_work")
            assert woken.within(1)


def test_tries_to_connect_come_more_seldom_but_never_far_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that was away for long is heard within moments of its return."""
    pauses: list[float] = []

    class Clock(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0)
            if len(pauses) == 12:
                self.set()
            return self.is_set()

    listener = Listener(Database("host=/nowhere user=nobody"), Woken())
    monkeypatch.setattr(listener, "_stop", Clock())
    listener.start()
    listener._thread.join(30)
    assert len(pauses) == 12
    assert pauses[0] <= 0.5 < pauses[-1]
    assert max(pauses) <= 2


@pytest.fixture
def relay(role_dsn: DSN) -> Iterator[Relay]:
    """Relay to the test's server."""
    where = conninfo_to_dict(role_dsn("worker"))
    relay = Relay(f"{where['host']}/.s.PGSQL.{where['port']}")
    yield relay
    relay.close()


def test_nt4_a_half_open_connection_is_found_out_by_the_probe(role_dsn: DSN, relay: Relay) -> None:
    """The peer vanishes without a word, and TCP notices nothing: the probe does."""
    woken = Woken()
    dsn = make_conninfo(role_dsn("worker"), host="127.0.0.1", port=relay.port)
    with listening(dsn, woken, probe_every=0.5) as listener:
        time.sleep(1.2)
        assert listener.is_listening, "a quiet connection that answers the probe is kept"
        relay.go_dead()
        until(lambda: not listener.is_listening, 6)
        assert woken.within(8)
        assert listener.is_listening


def test_nt6_a_pooler_that_swallows_notifications_is_found_out(
    role_dsn: DSN, superuser: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """The notification to itself does not arrive within 2 s: this is logged, polling goes on."""
    real_connect = Database.connect

    def without_listen(self: Database) -> psycopg.Connection:
        conn = real_connect(self)
        return DeafConnection(conn)  # type: ignore[return-value]

    class DeafConnection:
        """Answer every statement, as a transaction pooler does, and deliver no notification."""

        def __init__(self, conn: psycopg.Connection) -> None:
            self._conn = conn

        def __enter__(self) -> DeafConnection:
            return self

        def __exit__(self, *_: object) -> None:
            self._conn.close()

        def __getattr__(self, name: str) -> object:
            return getattr(self._conn, name)

        def execute(self, *_: object) -> psycopg.Cursor:
            return self._conn.execute("select 1")

    woken = Woken()
    listener = Listener(Database(role_dsn("worker")), woken)
    with pytest.MonkeyPatch.context() as patch, caplog.at_level("WARNING"):
        patch.setattr(Database, "connect", without_listen)
        listener.start()
        until(lambda: "listener_lost" in caplog.text)
        assert not listener.is_listening
        assert not woken.within(0)
        listener.stop()


def test_nt5_the_listener_is_never_inside_a_transaction(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """An open transaction would keep the notification queue from being emptied."""
    with listening(role_dsn("worker"), Woken()):
        (found,) = superuser.execute(
            "select state, xact_start from pg_stat_activity"
            " where application_name = 'forebay listener'"
        ).fetchall()
        assert found == ("idle", None)


def test_cp4_the_listener_recycles_its_connection(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """A connection is replaced before it is old, and a full look follows."""
    woken = Woken()
    with listening(role_dsn("worker"), woken, recycle_after=0.5):
        before = superuser.execute(LISTENERS).fetchall()
        assert woken.within(5)
        assert superuser.execute(LISTENERS).fetchall() != before
