"""Connections to the database: how they are opened, and the credentials that rotate under them."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from forebay import schema
from forebay.errors import ConnectError

MAX_LIFETIME = 45 * 60  # seconds; shorter than any credential that is fetched for a connection
GIVE_UP_RECONNECTING = 10  # seconds; then the next one who asks for a connection starts it again
RETRY_EVERY = 0.5  # seconds between tries to reach a server that is not up yet
STARTING = ("starting up", "shutting down", "recovery mode", "too many", "remaining connection")

Pool = ConnectionPool[Connection[Any]]
AsyncPool = AsyncConnectionPool[AsyncConnection[Any]]


@dataclass(frozen=True, slots=True)
class Database:
    """Where the database is and who asks; conninfo may be a function that knows the password now.

    A function is called for each new connection, so that credentials may rotate.
    """

    conninfo: str | Callable[[], str] = field(repr=False)
    application_name: str = "forebay"
    connect_timeout: int = 10  # seconds
    tcp_timeout: int = 30  # seconds until a peer that does not answer counts as gone
    statement_timeout: int | None = None  # seconds; None leaves it to the role and the DSN
    role: str | None = None  # act as forebay_<role>, of which the login is a member

    def parameters(self) -> dict[str, Any]:
        """Return what a connection is opened with. Raises ConnectError for a malformed DSN."""
        conninfo = self.conninfo if isinstance(self.conninfo, str) else self.conninfo()
        try:
            given = conninfo_to_dict(conninfo)
        except psycopg.ProgrammingError:
            # Its text repeats the DSN, password and all.
            raise ConnectError(
                "The database's DSN cannot be read: write it as"
                " postgresql://user@host:port/database or as host=... dbname=... user=..."
            ) from None
        options = [str(given.get("options") or "") or os.environ.get("PGOPTIONS", "")]
        options.append(r"-c default_transaction_isolation=read\ committed")
        if self.statement_timeout is not None:
            options.append(f"-c statement_timeout={self.statement_timeout}s")
        if self.role is not None:
            options.append(f"-c role=forebay_{self.role}")
        return {
            "connect_timeout": self.connect_timeout,
            "keepalives": 1,
            "keepalives_idle": self.tcp_timeout,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": self.tcp_timeout * 1000,
            **given,
            "application_name": self.application_name,
            "options": " ".join(options).strip(),
            "autocommit": True,
            "prepare_threshold": None,  # poolers and schema upgrades break prepared statements
        }

    def connect(self) -> Connection[Any]:
        """Open one connection of one's own. Raises ConnectError."""
        parameters = self.parameters()
        try:
            return Connection.connect(**parameters)
        except psycopg.OperationalError as error:
            raise _connect_error(error) from error

    def check(self, *, patience: float = 0) -> None:
        """Raise ConnectError or SchemaError unless the database can be used with this driver.

        A server that is not up yet is waited for, `patience` seconds long.
        """
        give_up_at = time.monotonic() + patience
        while True:
            try:
                with self.connect() as connection:
                    return schema.check_compatible(connection)
            except ConnectError as error:
                if not error.is_transient or time.monotonic() > give_up_at:
                    raise
            time.sleep(RETRY_EVERY)

    def open_pool(self, *, max_size: int = 4, patience: float = 0) -> Pool:
        """Check the database, then open a pool of up to max_size connections."""
        self.check(patience=patience)
        return ConnectionPool(
            kwargs=self.parameters, check=ConnectionPool.check_connection, **_sizes(max_size)
        )

    def async_pool(self, *, max_size: int = 4) -> AsyncPool:
        """Return a pool that is opened by `async with`; call `check` before."""

        async def parameters() -> dict[str, Any]:
            return self.parameters()

        return AsyncConnectionPool(
            kwargs=parameters,
            check=AsyncConnectionPool.check_connection,
            **_sizes(max_size) | {"open": False},
        )


def _sizes(max_size: int) -> dict[str, Any]:
    return {
        "min_size": 1,
        "max_size": max_size,
        "max_lifetime": MAX_LIFETIME,
        "reconnect_timeout": GIVE_UP_RECONNECTING,
        "open": True,
    }


@contextmanager
def cut_off(connection: Connection[Any], seconds: float) -> Iterator[None]:
    """Break the connection if the block takes longer, also when the peer has silently gone."""

    def shut_down() -> None:
        with socket.socket(fileno=os.dup(descriptor)) as line:
            line.shutdown(socket.SHUT_RDWR)

    descriptor = connection.fileno()
    timer = threading.Timer(seconds, shut_down)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _connect_error(error: psycopg.OperationalError) -> ConnectError:
    said = " ".join(str(error).split("\n")[0].split())
    is_refusal = "FATAL:" in said and not any(word in said for word in STARTING)
    is_wrong = is_refusal or "resolve" in said or "translate host name" in said
    remedy = "correct the DSN" if is_wrong else "start the server, or correct the DSN"
    return ConnectError(
        f"Cannot connect to the database ({said}): {remedy}.", is_transient=not is_wrong
    )
