"""What a daemon has in its hands: attempts that it claimed or adopted, and their runs."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec, TypeVar

import psycopg

from forebay.calls._call import StoredFunction
from forebay.daemon.pace import Again
from forebay.launchers import LaunchableAttempt, Launcher
from forebay.leases import Lease
from forebay.pool import Database, Pool
from forebay.renewal import LeaseKeeper

P = ParamSpec("P")
R = TypeVar("R")

STATEMENT_TIMEOUT = 30  # seconds
CONNECTION_WAIT = 2.0  # seconds for a connection of the pool; then the step has failed
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0  # seconds until runs that are in the way are asked again
CANCEL_SECONDS = 1.0  # for the server to take in that a call is cancelled


@dataclass(slots=True, eq=False)
class Run:
    """One attempt, from its claim until its end was reported.

    run_id is None before the launch; is_tried says that a launch was tried, so a run may exist, and
    is_unclear that one was before the latest: a refusal of that does not say that there is none.
    tried_at is when that was last, told_at when the database heard last that it failed. is_alone
    says that the ends of the outside runs of its task's earlier attempts were asked for: it is not
    launched before that; way_due, when those that were not are asked for again.
    Its lease says what the database last told. Times are of the monotonic clock.
    """

    attempt: LaunchableAttempt
    launcher: Launcher
    run_id: str | None = None
    is_tried: bool = False
    is_unclear: bool = False
    is_recorded: bool = False
    tried_at: float = -math.inf
    told_at: float = -math.inf
    claimed_at: float = field(default_factory=time.monotonic)
    is_alone: bool = field(init=False)
    way_due: Again = field(init=False)
    lease: Lease = field(init=False)

    def __post_init__(self) -> None:
        self.is_alone = self.attempt.attempt_no == 1 or self.attempt.launcher == "local"
        self.way_due = Again(FIRST_WAIT, LONGEST_WAIT)
        self.lease = Lease(self.attempt_id)

    @property
    def is_held_back(self) -> bool:
        """Whether runs of its task's earlier attempts could not be asked to end."""
        return not self.is_alone and self.way_due.has_failed()

    @property
    def attempt_id(self) -> int:
        return self.attempt.attempt_id


class Runs:
    """The runs of one daemon, by attempt, and their leases; its threads share it."""

    def __init__(self, keeper: LeaseKeeper) -> None:
        self._keeper = keeper
        self._runs: dict[int, Run] = {}
        self._lock = threading.Lock()

    def add(self, runs: Iterable[Run]) -> None:
        """Take runs in; one of the same attempt, which must have been lost before, is replaced."""
        added = {run.attempt_id: run for run in runs}
        with self._lock:
            self._runs.update(added)
        self._keeper.add(run.lease for run in added.values())

    def drop(self, run: Run) -> None:
        """Let go of a run; one that is not there any more is left alone."""
        with self._lock:
            if self._runs.get(run.attempt_id) is run:
                del self._runs[run.attempt_id]
        self._keeper.drop(run.lease)

    def get(self, attempt_id: int) -> Run | None:
        """Return the run of an attempt, if it is there."""
        with self._lock:
            return self._runs.get(attempt_id)

    def all(self) -> list[Run]:
        """Return the runs, in the order of their arrival."""
        with self._lock:
            return list(self._runs.values())

    def of(self, launcher: Launcher) -> list[Run]:
        """Return one launcher's runs."""
        return [run for run in self.all() if run.launcher is launcher]


class Caller:
    """Call stored functions as one worker, each in a transaction of its own."""

    def __init__(self, database: Database, worker: str) -> None:
        self.worker = worker
        self._database = replace(
            database, connect_timeout=5, tcp_timeout=10, statement_timeout=STATEMENT_TIMEOUT
        )
        self._pool: Pool | None = None
        self._lock = threading.Lock()  # a cancel reaches the call that it is meant for, or none
        self._cancellable: list[psycopg.Connection[Any]] = []

    @contextmanager
    def connected(self, *, patience: float) -> Iterator[None]:
        """Keep a pool of connections open for the block. Raises ConnectError or SchemaError."""
        with self._database.open_pool(patience=patience) as self._pool:
            yield

    def call(self, function: StoredFunction[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function on a connection of the pool."""
        assert self._pool is not None
        with self._pool.connection(timeout=CONNECTION_WAIT) as connection:
            return function(connection, *args, **kwargs)

    def call_cancellably(
        self, function: StoredFunction[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Do the same for what may as well not be done: `cancel` has it fail."""
        assert self._pool is not None
        with self._pool.connection(timeout=CONNECTION_WAIT) as connection:
            with self._lock:
                self._cancellable.append(connection)
            try:
                return function(connection, *args, **kwargs)
            finally:
                with self._lock:
                    self._cancellable.remove(connection)

    def cancel(self) -> None:
        """Have the cancellable calls that go on fail at once, as if they had not been made."""
        with self._lock:
            for connection in self._cancellable:
                with suppress(psycopg.Error):
                    connection.cancel_safe(timeout=CANCEL_SECONDS)
