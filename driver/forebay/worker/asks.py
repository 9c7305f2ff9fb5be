"""Ask for handlers, on connections that the loop of the worker does not wait for."""

import threading
from typing import Any

import psycopg

from forebay.calls import agent as calls
from forebay.pool import Database, Pool
from forebay.rows import CallPermit

MOST_CONNECTIONS = 8
PATIENCE = 5.0  # seconds to wait for a connection


class Asker:
    """Ask from any thread; the connections are opened with the first question."""

    def __init__(self, database: Database, threads: int) -> None:
        self._database = database
        self._size = min(threads, MOST_CONNECTIONS)
        self._lock = threading.Lock()
        self._pool: Pool | None = None

    def may_call(self, attempt_id: int, **call: Any) -> CallPermit:
        """Ask at once whether a model call may begin. Raises what forbade it."""
        with self._opened().connection(timeout=PATIENCE) as connection:
            return calls.may_call(connection, attempt_id=attempt_id, **call)

    def known_attempts(self, **attempts: Any) -> list[str]:
        """Ask which attempts are of this database. Raises what kept it from being told."""
        with self._opened().connection(timeout=PATIENCE) as connection:
            return calls.known_attempts(connection, **attempts)

    def close(self) -> None:
        """Close the connections; who asks then is told that the database is away."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()

    def _opened(self) -> Pool:
        if not self._lock.acquire(timeout=PATIENCE):
            raise psycopg.OperationalError("the database does not answer")
        try:
            if self._pool is None:
                self._pool = self._database.open_pool(max_size=self._size)
            return self._pool
        finally:
            self._lock.release()
