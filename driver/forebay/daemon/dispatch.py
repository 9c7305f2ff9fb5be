"""The daemon's steps from a claim to a recorded run, the same for every launcher."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

from forebay.calls import agent as agent_calls
from forebay.calls import worker as calls
from forebay.daemon.runs import Caller, Run, Runs
from forebay.errors import ForebayError
from forebay.launchers import Launcher, LaunchRefused
from forebay.logs import EventLog
from forebay.renewal import LeaseKeeper

log = EventLog(__name__)

LARGEST_CLAIM = 100
REFUSED_RETRY = timedelta(seconds=30)


class Dispatch:
    """Claim attempts, launch them once each, and record their runs.

    A claim is committed before its launch, and the lease is asked for again right before it: a
    daemon that was suspended in between launches nothing that has become somebody else's.
    """

    def __init__(
        self,
        caller: Caller,
        runs: Runs,
        keeper: LeaseKeeper,
        on_over: Callable[[Run], None],
        stop: threading.Event,
        agents: Sequence[str] | None,
    ) -> None:
        self._caller = caller
        self._runs = runs
        self._keeper = keeper
        self._on_over = on_over
        self._stop = stop
        self._agents = agents

    def check(self) -> None:
        """Claim nothing and report nothing, to raise what forbids it: before anything is held."""
        self._caller.call_cancellably(
            calls.dequeue, worker=self._caller.worker, agents=self._agents, launchers=[]
        )
        self._caller.call(agent_calls.complete_many, attempt_ids=[], results=[])

    def claim(self, launcher: Launcher) -> int:
        """Claim as many attempts as the launcher has slots for; return how many."""
        room = min(launcher.slots - len(self._runs.of(launcher)), LARGEST_CLAIM)
        if room <= 0:
            return 0
        claimed = self._caller.call_cancellably(
            calls.dequeue,
            worker=self._caller.worker,
            agents=self._agents,
            batch_size=room,
            launchers=[launcher.name],
        )
        self._runs.add(Run(attempt, launcher) for attempt in claimed)
        return len(claimed)

    def launch(self) -> None:
        """Launch what has no run yet, until the daemon is stopped, and record what was launched."""
        waiting = [run for run in self._runs.all() if run.run_id is None]
        self._keeper.renew(run.lease for run in waiting)
        for run in waiting:
            if self._stop.is_set():
                break
            if run.lease.is_held:
                self._launch(run)
            else:
                self._let_go(run)
        for run in self._runs.all():
            if run.run_id is not None and not run.is_recorded:
                self._record(run, run.run_id)

    def release_unlaunched(self) -> None:
        """Hand back what was never launched; what may have a run is left to be adopted."""
        for run in self._runs.all():
            if run.run_id is None:
                self._let_go(run)

    def _launch(self, run: Run) -> None:
        run.is_tried = True
        try:
            run.run_id = run.launcher.launch(run.attempt)
        except LaunchRefused as refusal:
            log.warning("launch_refused", attempt_id=run.attempt_id, reason=str(refusal))
            run.is_tried = False
            self._release(run, str(refusal), REFUSED_RETRY)
        except Exception as error:  # whether there is a run is open: the same token finds out
            log.warning("launch_unclear", attempt_id=run.attempt_id, reason=str(error))
        else:
            log.info(
                "launched", attempt_id=run.attempt_id, agent=run.attempt.agent, run_id=run.run_id
            )
            if not run.lease.is_held:  # the answer came while it was being launched
                self._on_over(run)

    def _record(self, run: Run, run_id: str) -> None:
        try:
            self._caller.call(calls.record_run, attempt_id=run.attempt_id, run_id=run_id)
        except ForebayError as error:
            log.error("run_not_recorded", attempt_id=run.attempt_id, reason=str(error))
            run.lease.state = "lost"
            self._keeper.drop(run.lease)
        run.is_recorded = True
        if not run.lease.is_held:
            self._on_over(run)

    def _let_go(self, run: Run) -> None:
        if run.is_tried:
            self._runs.drop(run)
        else:
            self._release(run, "the daemon had not launched it", timedelta())

    def _release(self, run: Run, reason: str, retry_in: timedelta) -> None:
        self._caller.call(
            calls.release, attempt_id=run.attempt_id, reason=reason, retry_in=retry_in
        )
        self._runs.drop(run)
