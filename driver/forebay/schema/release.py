"""Tell whether this driver can work with a database, as any of its callers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors

from forebay import __version__
from forebay.schema import apply, files, ledger
from forebay.schema.files import SchemaError
from forebay.schema.ledger import Applied, version


@dataclass(frozen=True, slots=True)
class Status:
    """What is installed (None: nothing), what this driver brings, how many steps lie between."""

    installed: str | None
    driver: str
    pending: int
    history: list[Applied]


def status(dsn: str, *, root: Path | None = None) -> Status:
    """Return the releases, the number of pending steps, and the ledger in order of application."""
    with apply.reading(dsn) as (_, history):
        steps = ledger.pending(files.load(root), history)
        installed = ledger.installed_release(history)
        return Status(installed, __version__, len(steps), list(history.values()))


def check_compatible(conn: psycopg.Connection[Any]) -> None:
    """Raise SchemaError unless the schema's release is the driver's; any caller role will do.

    Runs one query in a transaction of its own, or in a savepoint of the caller's transaction.
    """
    try:
        with conn.transaction():
            row = conn.execute("select forebay.schema_version()").fetchone()
    except (errors.InvalidSchemaName, errors.UndefinedFunction) as error:
        raise SchemaError(
            "The database has no schema forebay of a known release: run forebay db upgrade."
        ) from error
    except errors.InsufficientPrivilege as error:
        user = conn.info.user
        raise SchemaError(
            f'Role "{user}" may not use schema forebay: make it a member of a caller\'s role,'
            f" such as: grant forebay_worker to {user}."
        ) from error
    installed = str(row[0]) if row else ""
    if version(installed) > version(__version__):
        raise SchemaError(
            f"The schema is of release {installed} and this driver of {__version__}:"
            " upgrade the driver."
        )
    if version(installed) < version(__version__):
        raise SchemaError(
            f"The schema is of release {installed} and this driver of {__version__}:"
            " run forebay db upgrade."
        )
