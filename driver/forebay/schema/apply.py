"""Bring a database to the state of the files, in one transaction or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors

from forebay.schema import files, ledger
from forebay.schema.files import SchemaError
from forebay.schema.ledger import History, Step

SETTINGS = """\
set transaction isolation level read committed;
set local lock_timeout = '5s';
set local check_function_bodies = off;
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('forebay.schema'))"""
CONNECT_SECONDS = 10
BECOME_OWNER = "set local role forebay_owner"


def plan(dsn: str | None = None, *, root: Path | None = None) -> list[Step]:
    """Return what upgrade would do, in order; empty when nothing. Changes and locks nothing.

    Without a DSN: on a database without the schema.
    """
    on_disk = files.load(root)
    if dsn is None:
        return ledger.pending(on_disk, {})
    with reading(dsn) as (_, history):
        return ledger.pending(on_disk, history)


def upgrade(dsn: str, *, root: Path | None = None) -> list[Step]:
    """Install the schema or bring it up to date, and return what was done.

    One transaction: after an error nothing has changed. Concurrent calls wait for each other.
    Raises SchemaError, which names the file and where it can the line.
    """
    on_disk = files.load(root)
    with _connect(dsn) as conn, conn.transaction():
        try:
            conn.execute(SETTINGS)
        except errors.LockNotAvailable as error:
            raise SchemaError(
                "Another upgrade is at work in this database: run again when it has finished."
            ) from error
        steps = ledger.pending(on_disk, _history(conn))
        for step in steps:
            _apply(conn, step)
    return steps


@contextmanager
def reading(dsn: str) -> Iterator[tuple[psycopg.Connection[Any], History]]:
    """Give a read-only transaction as forebay_owner, and the ledger, empty before installation."""
    with _connect(dsn) as conn, conn.transaction():
        conn.execute("set transaction read only")
        yield conn, _history(conn)


def _connect(dsn: str) -> psycopg.Connection[Any]:
    from forebay.pool import Database  # which asks this package for the release

    database = Database(dsn, application_name="forebay db", connect_timeout=CONNECT_SECONDS)
    return database.connect()


def _history(conn: psycopg.Connection[Any]) -> History:
    """Return the ledger, and act as forebay_owner from here on if there is one."""
    if not ledger.is_installed(conn):
        return {}
    try:
        conn.execute(BECOME_OWNER)
    except errors.InsufficientPrivilege as error:
        user = conn.info.user
        raise SchemaError(
            f'Role "{user}" may not act as forebay_owner: connect as the role that installed the'
            f" schema, or have it run: grant forebay_owner to {user}."
        ) from error
    return ledger.read(conn)


def _apply(conn: psycopg.Connection[Any], step: Step) -> None:
    try:
        if step.sql:
            conn.execute(step.sql)
        conn.execute(step.record())
    except psycopg.Error as error:
        raise SchemaError(_sentence(step, error)) from error


def _sentence(step: Step, error: psycopg.Error) -> str:
    """Say where the file failed and why: the line is known when Postgres gives a position."""
    said = error.diag
    position = said.statement_position
    line = f":{step.sql.count(chr(10), 0, int(position) - 1) + 1}" if position else ""
    hint = said.message_hint or (
        "Something holds a lock on it; nothing was changed, so run again when that has ended."
        if isinstance(error, errors.LockNotAvailable)
        else ""
    )
    reason = said.message_primary or str(error)
    state = f" ({error.sqlstate})" if error.sqlstate else ""
    return f"{step.name}{line}: {reason}{state}. {hint}".strip()
