"""How the apps reach the database: a small pool for each of its roles, and who may use which."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from threading import Lock
from typing import Annotated, Any

import psycopg
from fastapi import Depends, Request
from psycopg import Connection
from psycopg_pool import ConnectionPool

from forebay.pool import Database, Pool, cut_off
from forebay_apps.web.errors import Forbidden
from forebay_apps.web.people import Person, Role

AnyConnection = AbstractContextManager[Connection[Any]]
Configure = Callable[[Connection[Any]], None]

WAIT_SECONDS = 3.0  # for a connection: then the person is told that the database does not answer
GIVE_UP_SECONDS = 3.0  # trying to reconnect; whoever comes next starts it again
STATEMENT_SECONDS = 15
CLOSE_SECONDS = 0.5
CHECK_SECONDS = 1.0
LOST_SECONDS = 120.0  # nothing that is asked here takes so long: the connection is dead
POOL_SIZE = 4


class Connections:
    """Connections as each role of the database: it refuses itself what the role may not do.

    The login of the DSN must be a member of these roles. For what the app does on its own account;
    what it does for a person goes through `Access`.
    """

    def __init__(self, database: Database, configure: Configure | None = None) -> None:
        self._configure = configure  # what to do with each new connection
        self.database = replace(
            database, connect_timeout=5, tcp_timeout=10, statement_timeout=STATEMENT_SECONDS
        )
        self._pools: dict[str, Pool] = {}
        self._in_use: set[Connection[Any]] = set()
        self._lock = Lock()

    @contextmanager
    def as_role(self, role: str) -> Iterator[Connection[Any]]:
        """Give a connection that acts as forebay_<role>; every call commits by itself."""
        with self._pool(role).connection() as connection, cut_off(connection, LOST_SECONDS):
            self._in_use.add(connection)
            try:
                yield connection
            finally:
                self._in_use.discard(connection)

    def close(self) -> None:
        """Close every connection; what is being asked on one is cancelled."""
        for connection in list(self._in_use):
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=CLOSE_SECONDS)
        with self._lock:
            for pool in self._pools.values():
                pool.close(CLOSE_SECONDS)
            self._pools.clear()

    def _pool(self, role: str) -> Pool:
        with self._lock:
            if role not in self._pools:
                self._pools[role] = self._opened(role)
            return self._pools[role]

    def _opened(self, role: str) -> Pool:
        return replace(self.database, role=role).pool(
            check=_check,
            configure=self._configure,
            name=f"forebay_{role}",
            min_size=0,
            max_size=POOL_SIZE,
            timeout=WAIT_SECONDS,
            reconnect_timeout=GIVE_UP_SECONDS,
        )


def _check(connection: Connection[Any]) -> None:
    """Raise unless the connection works; one whose peer has silently gone is found out."""
    with cut_off(connection, CHECK_SECONDS):
        ConnectionPool.check_connection(connection)


class Access:
    """The database for one person: only the roles that the person's role stands for."""

    def __init__(self, connections: Connections, person: Person) -> None:
        self._connections = connections
        self.person = person

    def submitter(self) -> AnyConnection:
        """Give a connection for the person's own batches: pass p_actor = the person's name."""
        return self._as("submitter", "submitter")

    def viewer(self) -> AnyConnection:
        """Give a connection that sees everything but documents and results."""
        return self._as("viewer", "viewer")

    def operator(self) -> AnyConnection:
        """Give a connection that acts on tasks and agents."""
        return self._as("operator", "operator")

    def reader(self) -> AnyConnection:
        """Give a connection that sees documents and results."""
        return self._as("reader", "admin")

    def _as(self, role: str, needed: Role) -> AnyConnection:
        if not self.person.may(needed):
            raise Forbidden(needed)
        return self._connections.as_role(role)


def access(request: Request) -> Access:
    """Give a route the database as far as the person who asks may use it."""
    return Access(request.app.state.connections, request.state.person)


Db = Annotated[Access, Depends(access)]
