"""The loop of a daemon: every step in its turn, then a wait that a notification ends early."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

import psycopg

from forebay.calls import worker as calls
from forebay.daemon.dispatch import Dispatch
from forebay.daemon.external import ExternalRuns
from forebay.daemon.local import LocalRuns
from forebay.daemon.pace import SECOND_LOOK, WAKE_JITTER, BackOff, Every, Pace
from forebay.daemon.runs import Caller, Run, Runs
from forebay.errors import lacks_right
from forebay.launchers import ExternalLauncher, Launcher
from forebay.launchers.local import LocalLauncher
from forebay.leases import Lease
from forebay.listen import Listener
from forebay.logs import EventLog, first_line
from forebay.pool import Database
from forebay.renewal import LeaseKeeper

log = EventLog(__name__)

STOP_ALLOWANCE = 3.0  # seconds beyond the grace in which the ends of processes are reported
LOOK_FOR_SIGNALS = 0.1  # seconds


class Daemon:
    """Dispatch the work of one database to launchers until it is stopped.

    The database's role must be a member of forebay_worker and forebay_agent. `worker` is the name
    under which it claims, new at every start. `agents` None means those of its launchers.
    """

    def __init__(
        self,
        database: Database,
        local: LocalLauncher,
        *,
        external: Sequence[ExternalLauncher] = (),
        agents: Sequence[str] | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.worker = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:12]}"
        self.pace = pace or Pace()
        self._launchers: list[Launcher] = [local, *external]
        self._local_launcher = local
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._caller = caller = Caller(database, self.worker)
        self._listener = Listener(database, self._wake.set)
        self._keeper = keeper = LeaseKeeper(database, self.worker, self._on_lease_over)
        self._runs = runs = Runs(keeper)
        self._dispatch = Dispatch(caller, runs, keeper, self._on_over, self._stop, agents)
        self._local = LocalRuns(caller, runs, keeper, local)
        self._external = ExternalRuns(caller, runs, external)
        self._sweep_due = Every(self.pace.sweep)
        self._observe_due = Every(self.pace.observe)
        self._poll = BackOff(self.pace.poll_first, self.pace.poll_longest)
        self._errors = BackOff(self.pace.poll_first, self.pace.error_longest)
        self._claimed = 0
        self._looks_again = False
        local.on_end = self._wake.set

    def stop(self) -> None:
        """Ask `run` to end: no more claims, processes ended, outside runs left to be adopted.

        A claim or a sweep that waits in the database is cancelled. Asking again does no harm.
        """
        self._stop.set()
        self._wake.set()
        self._caller.cancel()

    def run(self, *, patience: float = 0) -> None:
        """Work until stopped.

        A database that is not up yet is waited for, `patience` seconds long; one that goes away
        later is waited for without end. Raises ConnectError, SchemaError, UnknownAgentError,
        InstallationClosedError, RefusedError when it cannot begin; later it logs what goes wrong
        and goes on.
        """
        with self._caller.connected(patience=patience):
            self._begin()
            with self._threads():
                log.info("daemon_started", worker=self.worker)
                while not self._stop.is_set():
                    self._rest(self._step())
                self._shut_down()
        log.info("daemon_stopped", worker=self.worker)

    def _begin(self) -> None:
        """Raise what forbids the work before there is any; while the database is away, begin."""
        try:
            self._dispatch.check()
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            log.warning("start_delayed", error=type(error).__name__, reason=first_line(error))
        except psycopg.errors.InsufficientPrivilege as error:
            raise lacks_right("daemon", error) from error

    @contextmanager
    def _threads(self) -> Iterator[None]:
        self._listener.start()
        self._keeper.start()
        try:
            yield
        finally:
            self._listener.stop()
            self._keeper.stop()

    def _step(self) -> float:
        """Do everything once; return how many seconds may pass before the next time."""
        self._keeper.ask_soon(run.lease for run in self._local.live())  # one may be cancelled
        steps = [self._local.report_exits, self._dispatch.launch, self._external.cancel]
        if self._observe_due.is_due():
            steps += [self._external.observe, self._external.adopt]
        if self._sweep_due.is_due():
            steps += [self._sweep]
        steps += [self._claim_and_launch]
        done = [self._is_done(step) for step in steps if not self._stop.is_set()]
        if not all(done):
            return self._errors.next()
        self._errors.reset()
        if self._claimed:
            self._poll.reset()
            return 0
        if self._looks_again:
            self._looks_again = False
            return SECOND_LOOK
        return self._poll.next()

    def _is_done(self, step: Callable[[], None]) -> bool:
        try:
            step()
        except Exception as error:
            name = step.__name__.strip("_")
            if not self._stop.is_set() or not isinstance(error, psycopg.errors.QueryCanceled):
                log.error("step_failed", step=name, error=type(error).__name__, reason=str(error))
            return False
        return True

    def _claim_and_launch(self) -> None:
        self._claimed = sum([self._dispatch.claim(launcher) for launcher in self._launchers])
        if self._claimed:
            self._dispatch.launch()

    def _sweep(self) -> None:
        self._caller.call_cancellably(calls.sweep, worker=self.worker)

    def _rest(self, seconds: float) -> None:
        """Wait for the time, a notification, the end of a process, or the stop.

        What woke it is looked for until nothing is found, and then once more.
        """
        is_woken = self._wake.wait(seconds)
        self._wake.clear()
        self._looks_again |= is_woken
        if is_woken and not self._stop.is_set():
            time.sleep(random.uniform(0, WAKE_JITTER))

    def _on_lease_over(self, lease: Lease) -> None:
        if run := self._runs.get(lease.attempt_id):
            self._on_over(run)

    def _on_over(self, run: Run) -> None:
        """See to a run whose lease was not renewed: a process ends, an outside run is let go."""
        if run.launcher is self._local_launcher:
            self._local.stop(run)
        elif run.is_recorded:
            self._runs.drop(run)
        self._wake.set()

    def _shut_down(self) -> None:
        """Hand back what was not launched and end the processes; till then their leases live."""
        log.info("daemon_stopping", worker=self.worker, processes=len(self._local.live()))
        give_up_at = time.monotonic() + self.pace.stop_grace + STOP_ALLOWANCE
        self._is_done(self._dispatch.release_unlaunched)
        self._local.stop_all(self.pace.stop_grace)
        while self._local.live() and time.monotonic() < give_up_at:
            self._is_done(self._local.report_exits)
            self._wake.wait(0.1)
            self._wake.clear()


def run_until_signalled(daemon: Daemon, *, patience: float = 0) -> None:
    """Run the daemon until SIGTERM or SIGINT; for the main thread of a process."""
    asked: list[int] = []  # a handler that took a lock could wait for the code that it interrupted
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: asked.append(number))
    with ThreadPoolExecutor(1, "daemon") as thread:
        work = thread.submit(daemon.run, patience=patience)
        while not wait([work], LOOK_FOR_SIGNALS).done:
            if asked:
                daemon.stop()
    work.result()
