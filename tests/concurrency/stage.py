"""One database under test: its sessions, its clock, and short names for what every test does.

A test here takes the stage alone, so that it can also be run on a stage with a deliberate fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from threading import Barrier
from typing import Any, TypeVar

import psycopg
from psycopg.rows import namedtuple_row

from forebay.calls import operator, submitter, worker
from forebay.errors import ForebayError
from forebay.rows import ClaimedAttempt
from forebay.schema.files import sql_root
from support.clock import Clock

T = TypeVar("T")
Act = Callable[[psycopg.Connection], T]

PATIENCE = 15  # seconds after which a statement that still waits has failed its test
LONG = timedelta(days=30)


@dataclass
class Stage:
    """A fresh database with the schema, seen by a role that may call everything."""

    superuser: psycopg.Connection
    dsn: str
    stack: ExitStack = field(default_factory=ExitStack)
    racers: list[psycopg.Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.superuser.row_factory = namedtuple_row
        database = self.superuser.info.dbname
        self.superuser.execute(f"alter database {database} set deadlock_timeout = '100ms'")
        self.superuser.execute(f"alter database {database} set statement_timeout = '{PATIENCE}s'")
        self.pool = self.stack.enter_context(ThreadPoolExecutor(40))

    def close(self) -> None:
        """Close every session."""
        self.stack.close()

    @cached_property
    def clock(self) -> Clock:
        """The stopped clock: from its first use on, time stands still until it is moved."""
        return Clock.install(self.superuser)

    @cached_property
    def db(self) -> psycopg.Connection:
        """The session in which a test acts by itself."""
        return self.session()

    def session(self, settings: str = "", *, autocommit: bool = True) -> psycopg.Connection:
        """Open a session with settings, such as "-c jit=off"; it closes with the stage."""
        session = psycopg.connect(self.dsn, autocommit=autocommit, options=settings)
        self.stack.callback(session.close)
        return session

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection]:
        """Open a session whose transaction stays open until the block ends, or commits itself."""
        with self.session(autocommit=False) as session:
            yield session

    def at_once(self, acts: Sequence[Act[T]]) -> list[T | Exception]:
        """Start every act in a session of its own at the same moment; errors are outcomes too."""
        while len(self.racers) < len(acts):
            self.racers.append(self.session())
        barrier = Barrier(len(acts), timeout=PATIENCE)

        def run(act: Act[T], session: psycopg.Connection) -> T | Exception:
            barrier.wait()
            try:
                return act(session)
            except (psycopg.Error, ForebayError) as error:
                return error

        return list(self.pool.map(run, acts, self.racers))

    def start(self, act: Act[T]) -> tuple[psycopg.Connection, Future[T]]:
        """Start an act in the background, in a new session."""
        session = self.session()
        return session, self.pool.submit(act, session)

    def is_held_up(self, act: Act[Any]) -> bool:
        """Tell whether an act has to wait for another session; one that has to is given up."""
        session, future = self.start(act)
        while not future.done():
            if self.blockers(session):
                session.cancel_safe()
                future.exception()
                return True
        future.result()
        return False

    def wait_until_blocked(self, session: psycopg.Connection, future: Future[Any]) -> bool:
        """Wait until the session is held up (True), or until its act has ended without that."""
        while not future.done():
            if self.blockers(session):
                return True
        return False

    def blockers(self, session: psycopg.Connection) -> list[int]:
        """Return the processes that a session waits for."""
        return self.value("select pg_blocking_pids(%s)", session.info.backend_pid)

    def mutate(self, file: str, piece: str, replacement: str) -> None:
        """Install a file of db/ with one piece replaced, which must be in it exactly once."""
        text = (sql_root() / file).read_text()
        assert text.count(piece) == 1, f"{piece!r} is {text.count(piece)} times in {file}"
        with self.superuser.transaction():
            self.superuser.execute("set local role forebay_owner")
            self.superuser.execute(text.replace(piece, replacement).encode())

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Read the tables themselves, as nobody but a test may."""
        return self.superuser.execute(query.encode(), values).fetchall()

    def row(self, query: str, *values: Any) -> Any:
        """Read one row."""
        (row,) = self.rows(query, *values)
        return row

    def value(self, query: str, *values: Any) -> Any:
        """Read one value."""
        return self.row(query, *values)[0]

    def task(self, task_id: int) -> Any:
        """Return a task's row."""
        return self.row("select * from forebay.tasks where task_id = %s", task_id)

    def attempt(self, attempt_id: int) -> Any:
        """Return an attempt's row."""
        return self.row("select * from forebay.task_attempts where attempt_id = %s", attempt_id)

    def in_use(self, agent: str = "a") -> int:
        """Return how many tasks of the agent are processing by their status."""
        query = "select count(*) from forebay.tasks where agent = %s and status = 'processing'"
        return self.value(query, agent)

    def level(self, agent: str = "a") -> Any:
        """Return the level of the agent's token bucket."""
        return self.value("select token_level from forebay.agent_status(array[%s])", agent)

    def agent(self, name: str = "a", **definition: Any) -> None:
        """Register an agent whose leases and deadlines do not run out unless a test says so."""
        defaults = {"lease": LONG, "timeout": LONG, "max_attempts": 1000}
        operator.register_agent(self.db, agent=name, **(defaults | definition))

    def enqueue(self, agent: str = "a", count: int = 1, **task: Any) -> list[int]:
        """Enqueue tasks that are alike, and return their ids in the order of the line."""
        tasks = [{"payload": {}} | task] * count
        return [row.task_id for row in submitter.enqueue_many(self.db, agent=agent, tasks=tasks)]

    def claim(self, size: int = 1, agent: str = "a", by: str = "w") -> list[ClaimedAttempt]:
        """Claim up to size tasks of one agent."""
        return worker.dequeue(self.db, worker=by, agents=[agent], batch_size=size)

    def claim_one(self, agent: str = "a", by: str = "w") -> ClaimedAttempt:
        """Claim the one task that can be claimed."""
        claims = self.claim(1, agent, by)
        assert len(claims) == 1, f"nothing could be claimed for {agent}"
        return claims[0]

    def expire(self, *attempt_ids: int) -> None:
        """Let the leases of attempts run out now."""
        self.superuser.execute(
            "update forebay.task_attempts set lease_expires_at = forebay._now()"
            " where attempt_id = any(%s)",
            [list(attempt_ids)],
        )


def dequeue(size: int = 1, *agents: str, by: str = "w") -> Act[list[ClaimedAttempt]]:
    """Return the act of claiming for these agents, or for all of launcher pull."""
    return lambda session: worker.dequeue(
        session, worker=by, agents=list(agents) or None, batch_size=size
    )


def claimed(outcomes: Sequence[list[ClaimedAttempt] | Exception]) -> list[ClaimedAttempt]:
    """Return all that was claimed at once; an error of any session fails the test."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert not errors, errors
    return [row for outcome in outcomes if isinstance(outcome, list) for row in outcome]
