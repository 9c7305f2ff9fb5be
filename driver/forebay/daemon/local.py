"""The daemon's steps for processes on this machine: tell them to stop, and report their ends."""

from __future__ import annotations

import threading
import time

from forebay.calls import agent as agent_calls
from forebay.calls import worker as calls
from forebay.daemon.runs import Caller, Run, Runs
from forebay.errors import NotFoundError
from forebay.launchers.local import Exit, LocalLauncher
from forebay.logs import EventLog
from forebay.renewal import LeaseKeeper

log = EventLog(__name__)

LINGER = {"finished": 10.0}  # seconds that a process which has reported may take to end


class LocalRuns:
    """See to the attempts that run as processes here; their ends are reported at once."""

    def __init__(
        self, caller: Caller, runs: Runs, keeper: LeaseKeeper, launcher: LocalLauncher
    ) -> None:
        self._caller = caller
        self._runs = runs
        self._keeper = keeper
        self._launcher = launcher

    def stop(self, run: Run) -> None:
        """End the process of a run whose lease was not renewed: at once, unless it is finished."""
        if run.run_id is not None:
            linger = LINGER.get(run.lease.state, 0)
            ending = threading.Timer(linger, self._launcher.cancel, [run.run_id])
            ending.daemon = True
            ending.start()

    def stop_all(self, grace: float) -> None:
        """End every process, because the daemon stops."""
        for run in self.live():
            if run.run_id is not None:
                self._launcher.cancel(run.run_id, grace)

    def live(self) -> list[Run]:
        """Return the runs whose end was not reported yet."""
        return self._runs.of(self._launcher)

    def report_exits(self) -> None:
        """Report the processes that have ended without doing so themselves, and forget them all.

        Whether one has is the database's to say: an agent may end its process with code 0.
        """
        exits = self._launcher.exits()
        ended = [(run, end) for run in self.live() if (end := exits.get(run.run_id or ""))]
        self._keeper.renew(run.lease for run, _ in ended)
        if any(run.lease.state == "lost" for run, _ in ended):
            self._caller.call(calls.sweep, worker=self._caller.worker)  # says why it was lost
        for run, end in ended:
            self._report(run, end)
            self._launcher.forget(str(run.run_id))
            self._runs.drop(run)

    def _report(self, run: Run, end: Exit) -> None:
        """Release what was told to stop, fail what died: the database decides what follows."""
        log.info(
            "process_ended",
            attempt_id=run.attempt_id,
            exit_code=end.exit_code,
            seconds=round(time.monotonic() - run.claimed_at, 3),
            output=end.log_path,
        )
        if run.lease.state == "finished":
            return
        try:
            if end.was_asked:
                self._caller.call(
                    calls.release, attempt_id=run.attempt_id, reason="its process was told to stop"
                )
            else:
                self._caller.call(agent_calls.fail, attempt_id=run.attempt_id, error=end.error())
        except NotFoundError as error:
            log.error("exit_not_reported", attempt_id=run.attempt_id, reason=str(error))
