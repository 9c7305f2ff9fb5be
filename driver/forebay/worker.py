"""The pull worker: run a function of this process for every task of an agent.

    worker = Worker("postgresql://…", agent="classify", concurrency=4)

    @worker.handler
    def classify(task: Task) -> dict[str, Any]:
        return {"kind": guess(task.payload["text"])}

    worker.run()

The login needs the roles forebay_worker and forebay_agent.
"""

import random
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from os import getpid
from typing import Any, TypeVar

import psycopg

from forebay.calls import agent as agent_calls
from forebay.calls import worker as calls
from forebay.errors import RefusedError
from forebay.handling import Crew, Handler, NotStarted, Outcome, Task
from forebay.listen import Listener
from forebay.logs import EventLog, first_line
from forebay.pool import Database, Pool
from forebay.renewal import Lease, Renewer, read_clock
from forebay.reports import AWAY, Reporter
from forebay.rows import TaskStatus
from forebay.settings import Settings

__all__ = ["Task", "Worker"]

log = EventLog(__name__)

LOOK_AGAIN = 0.05  # seconds after a notification; a trailing one may have been left out
PROGRESS_EVERY = 0.5  # seconds
PATIENCE = 30.0  # seconds to wait at the start for a database that is not up yet
CONNECTION_TIMEOUT = 5.0  # seconds to wait for a connection of the pool
LONGEST_PAUSE = 5.0  # seconds between tries while the database is away

H = TypeVar("H", bound=Handler)


class Worker:
    """Claim tasks of one agent and run the handler for each, up to `concurrency` at a time.

    batch_size is how many tasks each of them may have in hand: 1 claims only what starts at once,
    more saves round trips when the handler is quick. `dsn` may be a function, for credentials that
    rotate; None reads FOREBAY_DATABASE_URL. At SIGTERM or SIGINT, or `stop()`, running handlers get
    `grace` to end; a second signal ends the grace.
    """

    def __init__(
        self,
        dsn: str | Callable[[], str] | None = None,
        *,
        agent: str,
        concurrency: int = 4,
        batch_size: int = 1,
        grace: timedelta = timedelta(seconds=30),
        poll: timedelta = timedelta(seconds=1),
        sweep_every: timedelta = timedelta(seconds=5),
    ) -> None:
        if concurrency < 1 or batch_size < 1 or concurrency * batch_size > 10_000:
            raise ValueError(
                "concurrency and batch_size must be at least 1, and their product at most 10,000"
            )
        self.database = Database(
            dsn or Settings.read().database_url, application_name=f"forebay worker {agent}"[:63]
        )
        self.agent = agent
        self.name = f"{socket.gethostname()}:{getpid()}:{secrets.token_hex(4)}"
        self.concurrency = concurrency
        self.batch_size = batch_size
        self.grace = grace.total_seconds()
        self.poll = poll.total_seconds()
        self.sweep_every = sweep_every.total_seconds()
        self._handler: Handler | None = None
        self._run: _Run | None = None

    def handler(self, function: H) -> H:
        """Register what runs for each task: it gets a Task and returns the result, a JSON object.

        It may be a coroutine function, and return a `Result` with a confidence. What it raises
        fails the attempt: `Reject` for good, `Retry` and anything else to be tried again.
        """
        self._handler = function
        return function

    def run(self, *, until_empty: bool = False) -> int:
        """Work until told to stop, or until nothing can start; return how many tasks it finished.

        A task is finished when it completed or failed for good, not when it waits for a retry.
        Raises ConnectError, SchemaError, UnknownAgentError, InstallationClosedError, RefusedError
        when it cannot begin; later it logs what goes wrong and goes on.
        """
        if self._handler is None:
            raise RuntimeError("No handler: decorate a function with @worker.handler first.")
        with self.database.open_pool(max_size=2, patience=PATIENCE) as pool:
            self._run = _Run(self, self._handler, pool)
            with self._signals():
                return self._run.run(until_empty)

    def stop(self) -> None:
        """Ask `run` to end as SIGTERM does; from any thread."""
        if self._run is not None:
            self._run.ask_to_stop()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT; only the main thread can be told of signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGTERM, signal.SIGINT)
        before = [signal.signal(number, self._on_signal) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)

    def _on_signal(self, *_: object) -> None:
        # In a thread, since the interrupted code may hold the lock of the event that stop() sets.
        threading.Thread(target=self.stop).start()


class _Run:
    """One run of a worker: what it has in hand, and the loop that claims and reports."""

    def __init__(self, worker: Worker, handler: Handler, pool: Pool) -> None:
        self._worker = worker
        self._pool = pool
        self._in_hand: dict[int, Task] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._progress: dict[int, tuple[int, int]] = {}
        self._finished = 0
        self._is_empty = False
        self._sweep_at = self._progress_at = 0.0
        self._woken = threading.Event()
        self._notified = threading.Event()
        self._stop = threading.Event()
        self._hurry = threading.Event()
        self._crew = Crew(handler, worker.concurrency, self._done)
        self._reporter = Reporter(self._connection, self._ended)
        self._renewer = Renewer(worker.database, worker.name)
        self._listener = Listener(worker.database, self._notify)

    def ask_to_stop(self) -> None:
        (self._hurry if self._stop.is_set() else self._stop).set()
        self._woken.set()

    def run(self, until_empty: bool) -> int:
        try:
            self._begin(until_empty)
            self._loop(until_empty)
            self._wind_down()
        finally:
            self._crew.dismiss()
            self._renewer.stop()
            self._listener.stop()
        log.info("worker_stopped", worker=self._worker.name, finished=self._finished)
        return self._finished

    def _begin(self, until_empty: bool) -> None:
        """Make the first claim, so that what forbids to work is raised before the work begins."""
        log.info("worker_started", worker=self._worker.name, agent=self._worker.agent)
        self._renewer.start()
        if not until_empty:
            self._listener.start()
        try:
            with self._connection() as connection:
                agent_calls.complete_many(connection, attempt_ids=[], results=[])
            self._sweep()
            self._claim()
        except AWAY as error:
            log.warning("worker_delayed", error=type(error).__name__, reason=first_line(error))
        except psycopg.errors.InsufficientPrivilege as error:
            raise RefusedError(
                f"The worker's login lacks a right ({error.diag.message_primary}):"
                " grant it forebay_worker and forebay_agent."
            ) from error

    def _loop(self, until_empty: bool) -> None:
        pause = LOOK_AGAIN
        while not self._stop.is_set():
            try:
                self._report()
                self._sweep()
                self._claim()
                pause = LOOK_AGAIN
            except Exception as error:
                log.warning("worker_delayed", error=type(error).__name__, reason=first_line(error))
                pause = min(pause * 2, LONGEST_PAUSE)
                self._stop.wait(pause * random.uniform(0.5, 1))
                continue
            if until_empty and self._is_empty and not self._in_hand:
                return
            self._wait()

    def _wind_down(self) -> None:
        """Hand back what was not begun; let the rest end in the grace; hand back what did not."""
        give_up_at = time.monotonic() + self._worker.grace
        for task in self._crew.take_back():
            self._outcomes[task.attempt_id] = NotStarted()
        while self._in_hand:
            if time.monotonic() > give_up_at or self._hurry.is_set():
                break
            try:
                self._report()
            except Exception as error:
                log.warning("worker_delayed", error=type(error).__name__, reason=first_line(error))
                self._hurry.wait(LOOK_AGAIN)
            if self._in_hand:
                self._woken.wait(LOOK_AGAIN)
                self._woken.clear()
        for attempt_id in list(self._in_hand):
            self._outcomes.setdefault(attempt_id, NotStarted())
        try:
            self._report()
        except Exception as error:
            log.warning("leases_left", leases=len(self._in_hand), reason=first_line(error))

    def _wait(self) -> None:
        """Sleep until a handler ends, a notification comes, or it is time to poll."""
        pause = self._worker.poll * random.uniform(0.9, 1)
        if self._notified.is_set():
            self._notified.clear()
            pause = LOOK_AGAIN
        self._woken.wait(pause)
        self._woken.clear()

    def _claim(self) -> None:
        """Claim as many as there is room for, once there is room for a batch."""
        worker = self._worker
        room = worker.concurrency * worker.batch_size - len(self._in_hand)
        if room < worker.batch_size:
            return
        with self._connection() as connection:
            claims = calls.dequeue(
                connection, worker=worker.name, agents=[worker.agent], batch_size=room
            )
            local = read_clock(connection) if claims else None
        self._is_empty = not claims
        for claim in claims:
            assert local is not None
            task = Task(claim, Lease(claim, local), self._note_progress)
            self._in_hand[task.attempt_id] = task
            self._renewer.add(task.lease)
            self._crew.submit(task)

    def _sweep(self) -> None:
        """Put lost work back in line now and then, so that pull workers need no daemon."""
        if time.monotonic() < self._sweep_at:
            return
        with self._connection() as connection:
            calls.sweep(connection, worker=self._worker.name)
        self._sweep_at = time.monotonic() + self._worker.sweep_every * random.uniform(0.8, 1.2)

    def _report(self) -> None:
        """Report what ended; what cannot be reported now stays until its attempt's deadline."""
        outcomes = dict(self._outcomes)
        try:
            self._reporter.report(outcomes)
        except AWAY:
            for attempt_id in outcomes:
                task = self._in_hand.get(attempt_id)
                if task is not None and time.monotonic() > task.lease.deadline:
                    self._ended(attempt_id, None, False)
            raise
        if self._progress and time.monotonic() >= self._progress_at:
            self._progress_at = time.monotonic() + PROGRESS_EVERY
            reports, self._progress = self._progress, {}
            self._reporter.progress(
                {id_: seen for id_, seen in reports.items() if id_ in self._in_hand}
            )

    def _ended(self, attempt_id: int, status: TaskStatus | None, is_finished: bool) -> None:
        """Forget an attempt whose end is reported; status None means that it could not be."""
        del self._outcomes[attempt_id]
        task = self._in_hand.pop(attempt_id)
        self._renewer.drop(attempt_id)
        self._finished += is_finished
        seconds = round(time.monotonic() - task.claimed_at, 3)
        log.info(
            "task_reported",
            task_id=task.task_id,
            attempt_id=attempt_id,
            status=status,
            seconds=seconds,
        )

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        with self._pool.connection(timeout=CONNECTION_TIMEOUT) as connection:
            yield connection

    def _done(self, task: Task, outcome: Outcome) -> None:
        """Take a handler's outcome; called from its thread."""
        self._outcomes[task.attempt_id] = outcome
        self._woken.set()

    def _note_progress(self, attempt_id: int, done: int, total: int) -> None:
        self._progress[attempt_id] = (done, total)

    def _notify(self) -> None:
        self._notified.set()
        self._woken.set()
