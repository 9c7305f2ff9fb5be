"""Which database a command works on, and one connection to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg


def find_dsn(dsn: str | None) -> str:
    """Return dsn (--dsn), else what the settings say; this process then logs as they say, too.

    Raises MissingSettingError, or ConnectError for one that cannot be read: psycopg would repeat
    it, password and all.
    """
    from forebay.pool import Database
    from forebay.settings import Settings

    log_quietly()
    where = dsn or Settings.read().database_url
    Database(where).validate()
    return where


def log_quietly() -> None:
    """Log what FOREBAY_LOG_LEVEL says, else errors alone: a command tells in a sentence why."""
    import os

    from forebay import logs
    from forebay.settings import log_level

    logs.configure(log_level(os.environ, "ERROR"))


@contextmanager
def connect(dsn: str | None) -> Iterator[psycopg.Connection[Any]]:
    """Open a connection that commits each call by itself.

    Raises SchemaError where the schema is missing or newer than this driver.
    """
    from forebay import schema
    from forebay.pool import Database

    with Database(find_dsn(dsn), application_name="forebay cli").connect() as conn:
        schema.check_compatible(conn)
        yield conn


def person() -> str:
    """Return who sits at this computer: the actor of the audit log, and the owner of a batch."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        import os

        return f"uid {os.getuid()}"
