"""The loop of a pull worker: report what ended, sweep, claim, and wait for more."""

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg

from forebay.calls import agent as agent_calls
from forebay.calls import worker as calls
from forebay.claims import Claims
from forebay.errors import lacks_right
from forebay.leases import Lease, LocalTime, read_clock
from forebay.listen import Listener
from forebay.logs import EventLog, first_line
from forebay.pool import Database, Pool
from forebay.renewal import LeaseKeeper
from forebay.rows import ClaimedAttempt, TaskStatus
from forebay.worker.asks import Asker
from forebay.worker.handling import Crew, Handler, NotStarted, Outcome, Task
from forebay.worker.reports import AWAY, Reporter

log = EventLog(__name__)

LOOK_AGAIN = 0.05  # seconds after a notification; a trailing one may have been left out
CONNECTION_TIMEOUT = 5.0  # seconds to wait for a connection of the pool
LONGEST_PAUSE = 5.0  # seconds between tries while the database is away


@dataclass(frozen=True, slots=True)
class Terms:
    """Who works on what, and how much at a time; durations are seconds."""

    name: str
    agent: str
    concurrency: int
    batch_size: int
    grace: float
    poll: float
    sweep_every: float


class WorkLoop:
    """One run of a worker: it claims, and reports what its crew made of the claims.

    Three threads have a part in it besides the crew's: this one claims and reports, one renews the
    leases, one listens. `_in_hand` holds every claim that is not reported, `_outcomes` those of
    them that have ended.
    """

    def __init__(self, terms: Terms, handler: Handler, database: Database, pool: Pool) -> None:
        self._terms = terms
        self._pool = pool
        self._in_hand: dict[int, Task] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._finished = 0
        self._is_empty = False
        self._sweep_at = 0.0
        self._woken = threading.Event()
        self._notified = threading.Event()
        self._stop = threading.Event()
        self._hurry = threading.Event()
        self._crew = Crew(handler, terms.concurrency, self._done)
        self._reporter = Reporter(self._connection, self._ended, self._woken.set)
        self._claims = Claims(terms.name, lambda: self._in_hand)
        self._asker = Asker(database, terms.concurrency)
        self._keeper = LeaseKeeper(database, terms.name)
        self._listener = Listener(database, self._notify)

    def ask_to_stop(self) -> None:
        """End the loop when the running handlers have ended; asked again, end it at once."""
        (self._hurry if self._stop.is_set() else self._stop).set()
        self._woken.set()

    def run(self, until_empty: bool) -> int:
        """Work as `Worker.run` says, and return how many tasks were finished."""
        log.info("worker_started", worker=self._terms.name, agent=self._terms.agent)
        self._keeper.start()
        if not until_empty:
            self._listener.start()
        try:
            self._begin()
            self._work(until_empty)
            self._wind_down()
        finally:
            self._crew.dismiss()
            self._keeper.stop()
            self._listener.stop()
            self._asker.close()
        log.info("worker_stopped", worker=self._terms.name, finished=self._finished)
        return self._finished

    def _begin(self) -> None:
        """Make every kind of call once, so that what forbids one is raised before the work."""
        try:
            with self._connection() as connection:
                agent_calls.complete_many(connection, attempt_ids=[], results=[])
            self._sweep()
            self._claim()
        except AWAY as error:
            _log_delay(error)
        except psycopg.errors.InsufficientPrivilege as error:
            raise lacks_right("worker", error) from error

    def _work(self, until_empty: bool) -> None:
        pause = LOOK_AGAIN
        while not self._stop.is_set():
            try:
                self._report()
                self._sweep()
                self._claim()
            except Exception as error:
                _log_delay(error)
                pause = min(pause * 2, LONGEST_PAUSE)
                self._stop.wait(pause * random.uniform(0.5, 1))
                continue
            pause = LOOK_AGAIN
            if until_empty and self._is_empty and not self._in_hand:
                return
            self._wait()

    def _wind_down(self) -> None:
        """Hand back what was not begun; let the rest end in the grace; hand back what did not."""
        give_up_at = time.monotonic() + self._terms.grace
        self._hand_back(task.attempt_id for task in self._crew.take_back())
        while self._in_hand and time.monotonic() < give_up_at and not self._hurry.is_set():
            self._try_to_report()
            self._woken.wait(LOOK_AGAIN)
            self._woken.clear()
        self._hand_back(list(self._in_hand))
        self._try_to_report()

    def _hand_back(self, attempt_ids: Iterable[int]) -> None:
        for attempt_id in attempt_ids:
            self._outcomes.setdefault(attempt_id, NotStarted())

    def _wait(self) -> None:
        """Sleep until a handler ends, a notification comes, or it is time to poll."""
        pause = self._terms.poll * random.uniform(0.9, 1)
        if self._notified.is_set():
            self._notified.clear()
            pause = LOOK_AGAIN
        self._woken.wait(pause)
        self._woken.clear()

    def _claim(self) -> None:
        """Claim as many as there is room for, once there is room for a batch."""
        terms = self._terms
        room = terms.concurrency * terms.batch_size - len(self._in_hand)
        if room < terms.batch_size:
            return
        with self._connection() as connection:
            claims = self._claims.claim(
                partial(self._call_and_begin, connection), agents=[terms.agent], batch_size=room
            )
        self._is_empty = not claims

    def _call_and_begin(
        self,
        connection: psycopg.Connection[Any],
        function: Callable[..., list[ClaimedAttempt]],
        **arguments: Any,
    ) -> list[ClaimedAttempt]:
        """Claim, and begin what was claimed; what fails in between is recovered like the claim."""
        if claims := function(connection, **arguments):
            self._begin_tasks(claims, read_clock(connection))
        return claims

    def _begin_tasks(self, claims: list[ClaimedAttempt], local: LocalTime) -> None:
        for claim in claims:
            lease = Lease(
                claim.attempt_id,
                expires=local(claim.lease_expires_at),
                deadline=local(claim.deadline_at),
            )
            task = Task(claim, lease, self._reporter, self._asker)
            self._in_hand[task.attempt_id] = task
            self._keeper.add([lease])
            self._crew.submit(task)

    def _sweep(self) -> None:
        """Put lost work back in line now and then, so that pull workers need no daemon."""
        if time.monotonic() < self._sweep_at:
            return
        with self._connection() as connection:
            calls.sweep(connection, worker=self._terms.name)
        self._sweep_at = time.monotonic() + self._terms.sweep_every * random.uniform(0.8, 1.2)

    def _report(self) -> None:
        """Report what ended; what cannot be reported now stays until its attempt's deadline."""
        outcomes = dict(self._outcomes)
        try:
            self._reporter.report(outcomes)
            self._reporter.show_progress(self._in_hand)
        except AWAY:
            for attempt_id in outcomes:
                task = self._in_hand.get(attempt_id)
                if task is not None and time.monotonic() > task.lease.deadline:
                    self._ended(attempt_id, None, False)
            raise

    def _try_to_report(self) -> None:
        try:
            self._report()
        except Exception as error:
            _log_delay(error)

    def _ended(self, attempt_id: int, status: TaskStatus | None, is_finished: bool) -> None:
        """Forget an attempt whose end is reported; status None means that it could not be."""
        del self._outcomes[attempt_id]
        task = self._in_hand.pop(attempt_id)
        self._keeper.drop(task.lease)
        self._finished += is_finished
        log.info(
            "task_reported",
            task_id=task.task_id,
            attempt_id=attempt_id,
            status=status,
            seconds=round(time.monotonic() - task.claimed_at, 3),
        )

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        with self._pool.connection(timeout=CONNECTION_TIMEOUT) as connection:
            yield connection

    def _done(self, task: Task, outcome: Outcome) -> None:
        """Take a handler's outcome; called from its thread."""
        self._outcomes[task.attempt_id] = outcome
        self._woken.set()

    def _notify(self) -> None:
        """Take a notification; called from the listener's thread."""
        self._notified.set()
        self._woken.set()


def _log_delay(error: Exception) -> None:
    log.warning("worker_delayed", error=type(error).__name__, reason=first_line(error))
