"""Which database a command works on, and one connection to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from forebay.cli.errors import Refused

if TYPE_CHECKING:
    import psycopg


def find_dsn(dsn: str | None) -> str:
    """Return dsn (--dsn or FOREBAY_DATABASE_URL), else that of the running embedded server.

    Raises Refused when there is neither.
    """
    if dsn:
        return dsn
    from forebay.embedded import Server, default_data_dir

    if running := Server(default_data_dir()).status().dsn:
        return running
    raise Refused(
        "No database: pass --dsn or set FOREBAY_DATABASE_URL,"
        " or start the embedded server with 'forebay pg start'."
    )


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
