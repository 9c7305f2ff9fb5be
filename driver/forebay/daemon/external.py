"""The daemon's steps for runs outside of it: adopt them, observe them, cancel them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forebay.calls import worker as calls
from forebay.daemon.runs import Caller, Run, Runs
from forebay.launchers import ExternalLauncher
from forebay.logs import EventLog

log = EventLog(__name__)


class ExternalRuns:
    """See to the attempts whose runs live on without this daemon."""

    def __init__(self, caller: Caller, runs: Runs, launchers: Sequence[ExternalLauncher]) -> None:
        self._caller = caller
        self._runs = runs
        self._launchers: Mapping[str, ExternalLauncher] = {one.name: one for one in launchers}

    def adopt(self) -> None:
        """Take over attempts whose daemon is gone; those without a run are launched again."""
        if not self._launchers:
            return
        adopted = self._caller.call(
            calls.adopt, worker=self._caller.worker, launchers=list(self._launchers)
        )
        for attempt in adopted:
            log.info("adopted", attempt_id=attempt.attempt_id, run_id=attempt.run_id)
        self._runs.add(
            Run(
                attempt,
                self._launchers[attempt.launcher],
                run_id=attempt.run_id,
                is_tried=True,
                is_recorded=attempt.run_id is not None,
            )
            for attempt in adopted
        )

    def observe(self) -> None:
        """Pass on the state of every run; let go of those whose attempt has ended."""
        for launcher in self._launchers.values():
            runs = {run.run_id: run for run in self._runs.of(launcher) if run.run_id}
            attempts = {run_id: run.attempt_id for run_id, run in runs.items()}
            for run_id, outcome in self._observe(launcher, attempts).items():
                if outcome != "renew":
                    self._runs.drop(runs[run_id])

    def cancel(self) -> None:
        """Cancel the runs whose attempts were ended from outside, and see whether they stopped."""
        if not self._launchers:
            return
        for row in self._caller.call(calls.runs_to_cancel, worker=self._caller.worker):
            if row.run_id is not None:
                log.info("cancelling", attempt_id=row.attempt_id, run_id=row.run_id)
                launcher = self._launchers[row.launcher]
                launcher.cancel(row.run_id)
                self._observe(launcher, {row.run_id: row.attempt_id})

    def _observe(self, launcher: ExternalLauncher, attempts: Mapping[str, int]) -> dict[str, str]:
        """Tell the database what the launcher sees of these runs; return what followed, by run."""
        outcomes: dict[str, str] = {}
        for run_id, state in launcher.states(list(attempts)).items() if attempts else ():
            outcomes[run_id] = self._caller.call(
                calls.observe_run, attempt_id=attempts[run_id], run=state
            )
            if outcomes[run_id] != "renew":
                log.info("run_ended", run_id=run_id, outcome=outcomes[run_id])
        return outcomes
