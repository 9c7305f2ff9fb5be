"""A database of a test's own to make branches of, which nobody else is connected to."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from forebay.calls import agent, operator, submitter, upkeep, worker
from forebay.clones import with_dbname
from forebay.daemon import Daemon
from forebay.errors import InstallationClosedError
from forebay.launchers.local import LocalLauncher
from forebay.pool import Database
from support.server import INSTALLER, SUPERUSER, TestServer, drop_database

SOURCE = 'Mill\'s "forebay"'
SECRET = "Smith"
PATIENCE = 5  # seconds, after which a daemon that was not refused is stopped


@contextmanager
def source_database(server: TestServer, template: str, name: str = SOURCE) -> Iterator[str]:
    """Make one with work that waits, runs elsewhere and is done; give its owner's DSN."""
    create = sql.SQL("create database {} template {} owner {}")
    with server.superuser() as conn:
        conn.execute(create.format(*map(sql.Identifier, (name, template, INSTALLER))))
    dsn = server.dsn(INSTALLER, name)
    with psycopg.connect(server.dsn(SUPERUSER, name), autocommit=True) as conn:
        fill(conn)
    try:
        yield dsn
    finally:
        with server.superuser() as conn:
            found = "select datname from pg_database where starts_with(datname, %s)"
            for (each,) in conn.execute(found, [name]).fetchall():
                drop_database(conn, each)


def fill(conn: psycopg.Connection) -> None:
    """Have two runs be under way, of which one is to be cancelled, and local tasks that wait."""
    operator.register_agent(conn, agent="jobs", launcher="lakeflow", job_id=7, max_attempts=9)
    operator.register_agent(conn, agent="fake", launcher="local", entry_point="fake")
    for _ in range(3):
        payload = {"do": "nothing", "of": SECRET}
        submitter.enqueue(conn, agent="jobs", payload=payload, customer=SECRET)
        submitter.enqueue(conn, agent="fake", payload=payload, customer=SECRET)
    for attempt in worker.dequeue(conn, worker="w", agents=["jobs"], batch_size=3):
        worker.record_run(conn, attempt_id=attempt.attempt_id, run_id=f"run {attempt.attempt_id}")
    operator.cancel(conn, task_ids=[attempt.task_id], reason=f"of {SECRET}")
    conn.execute(
        "update forebay.task_attempts set lease_expires_at = now() - interval '9 min'"
        " where finished_at is null and attempt_id % 2 = 0"
    )


def attack(url: str, folder: Any) -> None:
    """Do all to a copy that a daemon that is pointed at it does: nothing may come of it."""
    database = Database(with_superuser(url))
    daemon = Daemon(database, LocalLauncher(database, folder, 1))
    patience = threading.Timer(PATIENCE, daemon.stop)
    patience.start()
    for refused in (daemon.run, lambda: _claim(database), lambda: _report(database)):
        try:
            refused()
        except InstallationClosedError:
            continue
        raise AssertionError("a copy did not refuse")
    patience.cancel()
    with database.connect() as conn:
        worker.sweep(conn, worker="attacker")
        assert worker.runs_to_cancel(conn, worker="attacker") == []
        assert upkeep.collect_announcements(conn) == []
        for known in ([], None):
            try:
                if known is None:
                    worker.adopt(conn, worker="attacker", launchers=["lakeflow"])
                else:
                    agent.begin_attempt(conn, attempt_id=1, launch_token="x")
            except InstallationClosedError:
                continue
            raise AssertionError("a copy did not refuse")


def with_superuser(url: str) -> str:
    """Return the same database's DSN for the superuser, whom no grant keeps out."""
    return psycopg.conninfo.make_conninfo(url, user=SUPERUSER)


def _claim(database: Database) -> None:
    with database.connect() as conn:
        worker.dequeue(conn, worker="attacker", agents=["jobs", "fake"], batch_size=9)


def _report(database: Database) -> None:
    event = {"type": "task.completed", "data": {"task_id": 1, "attempt_id": 1, "result": {}}}
    with database.connect() as conn:
        agent.callback(conn, event=event)


def killed_after(step: str, source: str) -> None:
    """Make a branch called fix in a process that is killed after one step."""
    killed = subprocess.run(
        [sys.executable, "-m", "databricks.support_killed_branch", source, step],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert killed.returncode == -9, killed.stderr


def databases(server: TestServer) -> set[str]:
    """Return the names of all databases."""
    with server.superuser() as conn:
        return {name for (name,) in conn.execute("select datname from pg_database").fetchall()}


def runs(url: str) -> list[tuple[Any, ...]]:
    """Return what the attempts of a database are."""
    with psycopg.connect(with_superuser(url)) as conn:
        return conn.execute(
            "select attempt_id, status, run_id, is_stop_pending from forebay.task_attempts"
            " order by attempt_id"
        ).fetchall()


def text_of(url: str) -> str:
    """Return what is in the tables that hold what tasks are about."""
    with psycopg.connect(with_superuser(url)) as conn:
        return " ".join(
            str(row)
            for table in ("tasks", "task_attempts", "audit_log", "task_changes", "task_rollups")
            for row in conn.execute(f"select * from forebay.{table}".encode()).fetchall()
        )


def named(dsn: str, name: str) -> str:
    """Return what connects to a clone."""
    return with_dbname(dsn, f"{psycopg.conninfo.conninfo_to_dict(dsn)['dbname']}_branch_{name}")
