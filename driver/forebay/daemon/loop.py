"""A daemon: its turns for the work of this machine, and a lane for each launcher outside of it."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial

import psycopg

from forebay.calls import worker as calls
from forebay.daemon.dispatch import Dispatch
from forebay.daemon.external import ExternalRuns, adopt
from forebay.daemon.lane import Lane
from forebay.daemon.local import LocalRuns
from forebay.daemon.pace import Every, Pace
from forebay.daemon.runs import Caller, Run, Runs
from forebay.daemon.turns import Step, Turns
from forebay.errors import lacks_right
from forebay.launchers import ExternalLauncher
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
        self.pace = pace = pace or Pace()
        self._external = external
        self._local_launcher = local
        self._stop = stop = threading.Event()
        self._turns = Turns(pace, stop)
        self._caller = caller = Caller(database, self.worker)
        self._listener = Listener(database, self._wake)
        self._keeper = keeper = LeaseKeeper(database, self.worker, self._on_lease_over)
        self._runs = runs = Runs(keeper)
        dispatch = partial(Dispatch, caller, runs, keeper, self._on_over, stop, agents)
        self._dispatch = dispatch(local)
        self._local = LocalRuns(caller, runs, keeper, local)
        self._outside = {one.name: dispatch(one) for one in external}
        self._lanes = [
            Lane(
                caller,
                self._outside[one.name],
                ExternalRuns(caller, runs, one),
                one,
                pace,
                stop,
                self._turns.wake,
            )
            for one in external
        ]
        self._sweep_due = Every(pace.sweep)
        self._adopt_due = Every(pace.observe)
        local.on_end = self._turns.wake

    def stop(self) -> None:
        """Ask `run` to end: no more claims, processes ended, outside runs left to be adopted.

        A claim or a sweep that waits in the database is cancelled. Asking again does no harm.
        """
        self._stop.set()
        self._wake()
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
                    self._turns.take(self._steps())
                    for lane in self._lanes:
                        lane.check()
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
            self._stop.set()  # also where an error ends the loop: the lanes are to end with it
            self._listener.stop()
            self._keeper.stop()

    def _steps(self) -> list[Step]:
        """Return what is to be done now. Adopting comes before the sweep that would end runs."""
        self._keeper.ask_soon(run.lease for run in self._local.live())  # one may be cancelled
        steps: list[Step] = [self._local.report_exits, self._dispatch.launch]
        if self._lanes and self._adopt_due.is_due():
            steps += [self._adopt]
        if self._sweep_due.is_due():
            steps += [self._sweep]
        return [*steps, self._claim_and_launch]

    def _claim_and_launch(self) -> int:
        claimed = self._dispatch.claim()
        if claimed:
            self._dispatch.launch()
        return claimed

    def _adopt(self) -> None:
        """Adopt runs; only then do the lanes begin, as their claims may end what is left alone."""
        is_any = adopt(self._caller, self._runs, self._external)
        for lane in self._lanes:
            lane.start()
            if is_any:
                lane.wake()

    def _sweep(self) -> None:
        self._caller.call_cancellably(calls.sweep, worker=self.worker)

    def _wake(self) -> None:
        self._turns.wake()
        for lane in self._lanes:
            lane.wake()

    def _on_lease_over(self, lease: Lease) -> None:
        if run := self._runs.get(lease.attempt_id):
            self._on_over(run)

    def _on_over(self, run: Run) -> None:
        """See to a run whose lease was not renewed: a process ends, an outside run is let go."""
        if run.launcher is self._local_launcher:
            self._local.stop(run)
        elif run.is_recorded:
            self._runs.drop(run)
        self._wake()

    def _shut_down(self) -> None:
        """Hand back what was not launched and end the processes; till then their leases live."""
        log.info("daemon_stopping", worker=self.worker, processes=len(self._local.live()))
        give_up_at = time.monotonic() + self.pace.stop_grace + STOP_ALLOWANCE
        for dispatch in (self._dispatch, *self._outside.values()):
            self._turns.attempt(dispatch.release_untried)
        self._local.stop_all(self.pace.stop_grace)
        while self._is_busy() and time.monotonic() < give_up_at:
            self._turns.attempt(self._local.report_exits)
            self._turns.wait(0.1)

    def _is_busy(self) -> bool:
        return bool(self._local.live()) or any(lane.is_alive() for lane in self._lanes)


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
