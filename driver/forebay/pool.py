"""Connections to the database: how they are opened, and the credentials that rotate under them."""

import asyncio
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from forebay import schema
from forebay.connecting import RETRY_EVERY, Tries, connect_error
from forebay.databricks.lakebase import Address, Lakebase, is_lakebase, lakebase
from forebay.errors import ConnectError

READABLE = "-c DateStyle=ISO -c IntervalStyle=postgres"
"""What psycopg can read, whatever the role or the database sets."""

MAX_LIFETIME = 45 * 60  # seconds; shorter than a credential that lasts for an hour
PART_OF_CREDENTIAL = 0.75  # of the life of a credential, after which connections are replaced
GIVE_UP_RECONNECTING = 10  # seconds; then the next one who asks for a connection starts it again

Pool = ConnectionPool[Connection[Any]]
AsyncPool = AsyncConnectionPool[AsyncConnection[Any]]


@dataclass(frozen=True, slots=True)
class Database:
    """Where the database is and who asks.

    conninfo is a DSN, a `lakebase:` URL (databricks.lakebase), or a function that knows the DSN
    now: it is called for each new connection, so that credentials may rotate.
    """

    conninfo: str | Callable[[], str] = field(repr=False)
    application_name: str = "forebay"
    connect_timeout: int = 10  # seconds
    tcp_timeout: int = 30  # seconds until a peer that does not answer counts as gone
    statement_timeout: int | None = None  # seconds; None leaves it to the role and the DSN
    role: str | None = None  # act as forebay_<role>, of which the login is a member

    def validate(self) -> None:
        """Raise ConnectError for a DSN or URL that cannot be read; asks nobody."""
        if is_lakebase(self.conninfo):
            Address.read(str(self.conninfo))
        else:
            self._given()

    def parameters(self) -> dict[str, Any]:
        """Return what a connection is opened with. Raises ConnectError.

        For Lakebase it waits for a credential, connect_timeout at most.
        """
        given = self._given()
        options = [str(given.get("options") or "") or os.environ.get("PGOPTIONS", "")]
        options.append(READABLE)
        options.append(r"-c default_transaction_isolation=read\ committed")
        if self.statement_timeout is not None:
            options.append(f"-c statement_timeout={self.statement_timeout}s")
        if place := self._place():
            options.append(place)
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
            "client_encoding": "UTF8",
            "application_name": self.application_name,
            "options": " ".join(options).strip(),
            "autocommit": True,
            "prepare_threshold": None,  # poolers and schema upgrades break prepared statements
        }

    def dsn(self) -> str:
        """Return what another program connects with now, its password in it. Raises ConnectError.

        Never on a command line, never in a log: a credential of Lakebase is good for an hour.
        """
        given = self._given()
        if place := self._place():
            given["options"] = f"{given.get('options') or ''} {place}".strip()
        return make_conninfo("", **given)

    def connect(self) -> Connection[Any]:
        """Open one connection of one's own. Raises ConnectError.

        Lakebase may have to wake up first: what passes by itself is tried again until
        connect_timeout is over.
        """
        try:
            return self._opened(Connection.connect)
        except psycopg.OperationalError as error:
            raise connect_error(error, is_lakebase=is_lakebase(self.conninfo)) from error

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
        return self.pool(min_size=1, max_size=max_size, reconnect_timeout=GIVE_UP_RECONNECTING)

    def pool(self, **options: Any) -> Pool:
        """Return a pool that is open, and checks nothing before; options are ConnectionPool's.

        It hands out no dead connection, and replaces each before a credential's life is over. When
        one is found dead the others are given up too: a server's restart ends all of them, and
        each that is found out by itself would take a second or more.
        """
        database = self
        check = options.pop("check", ConnectionPool.check_connection)
        is_open = options.pop("open", True)

        def checked(connection: Connection[Any]) -> None:
            try:
                check(connection)
            except psycopg.Error:
                pool.drain()
                raise

        class Opened(Connection[Any]):
            @classmethod
            def connect(cls, conninfo: str = "", **kwargs: Any) -> "Opened":
                opened = cast(Opened, database._opened(super().connect))
                pool.max_lifetime = database._max_lifetime()  # from now on, this one's too
                return opened

        options.setdefault("max_lifetime", self._max_lifetime())
        pool: Pool = ConnectionPool(connection_class=Opened, check=checked, open=False, **options)
        if is_open:
            pool.open()
        return pool

    def async_pool(self, *, max_size: int = 4) -> AsyncPool:
        """Return a pool that is opened by `async with`; call `check` before."""
        database = self

        async def checked(connection: AsyncConnection[Any]) -> None:
            try:
                await AsyncConnectionPool.check_connection(connection)
            except psycopg.Error:
                await pool.drain()
                raise

        class Opened(AsyncConnection[Any]):
            @classmethod
            async def connect(cls, conninfo: str = "", **kwargs: Any) -> "Opened":
                opened = cast(Opened, await database._opened_async(super().connect))
                pool.max_lifetime = database._max_lifetime()
                return opened

        pool: AsyncPool = AsyncConnectionPool(
            connection_class=Opened,
            check=checked,
            max_lifetime=self._max_lifetime(),
            min_size=1,
            max_size=max_size,
            reconnect_timeout=GIVE_UP_RECONNECTING,
            open=False,
        )
        return pool

    def _given(self) -> dict[str, Any]:
        """Return what the DSN says, or what the workspace says of a database of Lakebase."""
        if here := self._lakebase():
            return dict(here.parameters(self.connect_timeout))
        conninfo = self.conninfo if isinstance(self.conninfo, str) else self.conninfo()
        try:
            return conninfo_to_dict(conninfo)
        except psycopg.ProgrammingError:
            # Its text repeats the DSN, password and all.
            raise ConnectError(
                "The database's DSN cannot be read: write it as"
                " postgresql://user@host:port/database or as host=... dbname=... user=..."
            ) from None

    def _place(self) -> str:
        """Return the option by which a session says on which branch of Lakebase it is."""
        here = self._lakebase()
        return "-c forebay.branch=" + re.sub(r"([\\ ])", r"\\\1", here.branch) if here else ""

    def _lakebase(self) -> Lakebase | None:
        return lakebase(str(self.conninfo)) if is_lakebase(self.conninfo) else None

    def _max_lifetime(self) -> float:
        here = self._lakebase()
        life = here.life if here else None
        return min(MAX_LIFETIME, PART_OF_CREDENTIAL * life) if life else MAX_LIFETIME

    def _opened(self, connect: Callable[..., Any]) -> Connection[Any]:
        """Open a connection; for Lakebase, try again what may pass."""
        tries = Tries(self._lakebase(), self.connect_timeout)
        while True:
            parameters = self.parameters()
            try:
                return cast(Connection[Any], connect(**parameters))
            except psycopg.OperationalError as error:
                pause = tries.pause(error, parameters)
                if pause is None:
                    raise
            time.sleep(pause)

    async def _opened_async(self, connect: Callable[..., Any]) -> AsyncConnection[Any]:
        """Do the same in a loop, which goes on while a credential is waited for."""
        tries = Tries(self._lakebase(), self.connect_timeout)
        while True:
            parameters = await asyncio.to_thread(self.parameters)
            try:
                return cast(AsyncConnection[Any], await connect(**parameters))
            except psycopg.OperationalError as error:
                pause = tries.pause(error, parameters)
                if pause is None:
                    raise
            await asyncio.sleep(pause)


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
