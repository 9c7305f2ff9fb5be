"""Connections: credentials that rotate, sessions that are cut, and errors of one sentence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from forebay.connecting import connect_error
from forebay.errors import ConnectError
from forebay.memberships import lacking
from forebay.pool import Database, cut_off
from forebay.schema import SchemaError

Connect = Callable[..., psycopg.Connection]
DSN = Callable[..., str]


def test_a_connection_commits_at_once_and_reads_committed(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """What dequeue asks for holds whatever the role or the DSN sets, and other options stay."""
    dsn = make_conninfo(role_dsn("worker"), options="-c statement_timeout=12s")
    superuser.execute("alter role test_worker set default_transaction_isolation = serializable")
    try:
        with Database(dsn, application_name="forebay x").connect() as conn:
            assert conn.autocommit
            for name, value in (
                ("transaction_isolation", "read committed"),
                ("statement_timeout", "12s"),
                ("application_name", "forebay x"),
            ):
                assert conn.execute(f"show {name}").fetchone() == (value,)
    finally:
        superuser.execute("alter role test_worker reset default_transaction_isolation")


def test_what_is_read_is_in_a_form_that_can_be(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """Whatever the role or the DSN sets for people, times, durations and texts can be read."""
    said = "select now() - interval '1 day 1 hour', now() - now(), U&'\\00e9'"
    dsn = make_conninfo(
        role_dsn("worker"), options="-c datestyle=SQL,DMY", client_encoding="LATIN1"
    )
    habits = {
        "datestyle": "German, DMY",
        "intervalstyle": "iso_8601",
        "client_encoding": "SQL_ASCII",
    }

    async def asked() -> object:
        async with Database(role_dsn("worker")).async_pool() as pool, pool.connection() as conn:
            return await (await conn.execute(said)).fetchone()

    for name, value in habits.items():
        superuser.execute(f"alter role test_worker set {name} = '{value}'")
    try:
        with Database(dsn).connect() as conn, Database(role_dsn("worker")).open_pool() as pool:
            rows = [conn.execute(said).fetchone(), asyncio.run(asked())]
            with pool.connection() as conn:
                rows.append(conn.execute(said).fetchone())
    finally:
        for name in habits:
            superuser.execute(f"alter role test_worker reset {name}")
    for row in rows:
        assert row is not None
        assert isinstance(row[0], datetime)
        assert row[1:] == (timedelta(), "é")


def test_cp1_credentials_are_asked_for_at_every_new_connection(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """A conninfo that is a function is called again when a connection has to be replaced."""
    dsn, asked = role_dsn("worker"), []

    def conninfo() -> str:
        asked.append(len(asked))
        return dsn

    with Database(conninfo).open_pool(max_size=1) as pool:
        pool.wait()
        before = len(asked)
        with pool.connection() as conn:
            pid = conn.info.backend_pid
        superuser.execute("select pg_terminate_backend(%s)", [pid])
        time.sleep(0.1)
        with pool.connection() as conn:
            assert conn.info.backend_pid != pid
        assert len(asked) > before


def test_an_async_pool_works_the_same(role_dsn: DSN) -> None:
    """The web apps use the asynchronous kind."""

    async def session() -> object:
        async with Database(role_dsn("viewer")).async_pool() as pool, pool.connection() as conn:
            assert conn.autocommit
            return await (await conn.execute("select forebay.schema_version()")).fetchone()

    assert asyncio.run(session()) is not None


def test_cp3_a_session_that_was_cut_is_replaced(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """The pool hands out no dead connection."""
    with Database(role_dsn("worker")).open_pool(max_size=2) as pool:
        for _ in range(3):
            with pool.connection() as conn:
                pid = conn.execute("select pg_backend_pid()").fetchone()
            superuser.execute("select pg_terminate_backend(%s)", pid)


def test_sessions_that_a_restart_ended_are_found_out_together(
    role_dsn: DSN, superuser: psycopg.Connection
) -> None:
    """One by one, each dead session that is found would take a second, and then two."""
    with Database(role_dsn("viewer")).open_pool(max_size=4) as pool:
        with ExitStack() as held:
            pids = [held.enter_context(pool.connection()).info.backend_pid for _ in range(4)]
        for pid in pids:
            superuser.execute("select pg_terminate_backend(%s, 5000)", (pid,))
        began = time.monotonic()
        with pool.connection(timeout=10) as connection:
            assert connection.info.backend_pid not in pids
        assert time.monotonic() - began < 2.5


def test_a_malformed_dsn_is_refused_without_repeating_it() -> None:
    """psycopg's own error would show the password."""
    with pytest.raises(ConnectError, match="cannot be read") as caught:
        Database("postgresql//app:hunter2@host").check()
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "hunter2" not in repr(Database("postgresql://app:hunter2@host"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dbname": "no_such_db"}, 'database "no_such_db" does not exist.*correct the DSN'),
        ({"user": "no_such_role"}, 'role "no_such_role" does not exist.*correct the DSN'),
        ({"host": "no-such-host.invalid"}, "correct the DSN"),
    ],
)
def test_a_wrong_dsn_says_what_is_wrong_at_once(
    role_dsn: DSN, change: dict[str, str], said: str
) -> None:
    """What waiting cannot mend is not waited for."""
    database = Database(make_conninfo(role_dsn("worker"), **change))
    began = time.monotonic()
    with pytest.raises(ConnectError, match=said):
        database.check(patience=20)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("said", "is_transient"),
    [
        ("FATAL:  the database system is not yet accepting connections", True),
        ("FATAL:  terminating connection due to administrator command", True),
        ("FATAL:  sorry, too many clients already", True),
        ("FATAL:  canceling authentication due to timeout", True),
        ("FATAL:  das Datenbanksystem startet", True),
        ("failed to resolve host 'db': [Errno -3] Temporary failure in name resolution", True),
        ("failed to resolve host 'db': [Errno -2] Name or service not known", False),
        ('FATAL:  no pg_hba.conf entry for host "::1"', False),
        ('FATAL:  role "x" is not permitted to log in', False),
        ('FATAL:  permission denied to set role "forebay_owner"', False),
    ],
)
def test_a_start_waits_unless_what_is_said_is_known_for_a_mistake(
    said: str, is_transient: bool
) -> None:
    """A server says many things while it starts, ends or changes its place."""
    error = connect_error(psycopg.OperationalError(f"connection failed: {said}"))
    assert error.is_transient is is_transient


def test_cp6_a_server_that_is_down_is_waited_for_only_so_long(role_dsn: DSN) -> None:
    """A server may still be starting: its absence is transient, and patience bounded."""
    database = Database(make_conninfo(role_dsn("worker"), host="127.0.0.1", port=1))
    began = time.monotonic()
    with pytest.raises(ConnectError, match="start the server") as caught:
        database.check(patience=1)
    assert caught.value.is_transient
    assert 1 < time.monotonic() - began < 5


def test_a_database_without_the_schema_says_so(role_dsn: DSN) -> None:
    """The remedy is named: upgrade the database."""
    with pytest.raises(SchemaError, match="forebay db upgrade"):
        Database(make_conninfo(role_dsn("worker"), dbname="postgres")).check()


def test_a_login_without_a_role_says_so(dsn: str, superuser: psycopg.Connection) -> None:
    """The remedy is named: grant a role."""
    superuser.execute("create role test_stranger login")
    try:
        with pytest.raises(SchemaError, match="grant"):
            Database(make_conninfo(dsn, user="test_stranger")).check()
    finally:
        superuser.execute("drop role test_stranger")


def test_a_server_that_goes_away_is_not_taken_for_a_missing_role(role_dsn: DSN) -> None:
    """Nobody is told to grant what the login may have."""
    there = role_dsn("worker")
    answers = iter([there, make_conninfo(there, host="127.0.0.1", port=1)])
    with pytest.raises(ConnectError, match="start the server"):
        lacking(Database(lambda: next(answers)), ["worker"])


def test_a_call_that_takes_too_long_is_cut_off(connect: Connect) -> None:
    """The limit holds on this side of the line, whatever the server does."""
    conn = connect("worker")
    began = time.monotonic()
    with pytest.raises(psycopg.OperationalError), cut_off(conn, 0.2):
        conn.execute("select pg_sleep(30)")
    assert time.monotonic() - began < 5
