"""The daemon's steps for runs outside of it: adopt them, observe them, cancel them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forebay.calls import worker as calls
from forebay.daemon.runs import Caller, Run, Runs
from forebay.launchers import ExternalLauncher, LauncherAway
from forebay.logs import EventLog

log = EventLog(__name__)

ADOPTED_AT_ONCE = 100


def adopt(caller: Caller, runs: Runs, launchers: Sequence[ExternalLauncher]) -> int:
    """Take over all attempts whose daemon is gone; those without a run are launched again."""
    by_name = {one.name: one for one in launchers}
    count = 0
    while by_name:
        adopted = caller.call(
            calls.adopt, worker=caller.worker, launchers=list(by_name), limit=ADOPTED_AT_ONCE
        )
        for attempt in adopted:
            log.info("adopted", attempt_id=attempt.attempt_id, run_id=attempt.run_id)
        runs.add(
            Run(
                attempt,
                by_name[attempt.launcher],
                run_id=attempt.run_id,
                is_tried=True,
                is_recorded=attempt.run_id is not None,
            )
            for attempt in adopted
        )
        count += len(adopted)
        if len(adopted) < ADOPTED_AT_ONCE:
            break
    return count


class ExternalRuns:
    """See to the runs of one launcher, which live on without this daemon."""

    def __init__(self, caller: Caller, runs: Runs, launcher: ExternalLauncher) -> None:
        self._caller = caller
        self._runs = runs
        self._launcher = launcher

    def observe(self) -> None:
        """Pass on the state of every run; let go of those whose attempt has ended."""
        runs = {run.run_id: run for run in self._runs.of(self._launcher) if run.run_id}
        jobs = {run_id: run.attempt.job_id for run_id, run in runs.items()}
        attempts = {run_id: run.attempt_id for run_id, run in runs.items()}
        for run_id, outcome in self._observe(attempts, jobs).items():
            if outcome != "renew":
                self._runs.drop(runs[run_id])

    def cancel(self) -> None:
        """Cancel the runs whose attempts were ended from outside, and see whether they stopped."""
        rows = [
            row
            for row in self._caller.call(calls.runs_to_cancel, worker=self._caller.worker)
            if row.launcher == self._launcher.name
        ]
        for row in rows:
            if row.run_id is not None:
                self._cancel(row.attempt_id, row.run_id)
                self._observe({row.run_id: row.attempt_id}, {row.run_id: row.job_id})

    def _cancel(self, attempt_id: int, run_id: str) -> None:
        """Ask for the end of a run; one that cannot be cancelled holds up no other one."""
        log.info("cancelling", attempt_id=attempt_id, run_id=run_id)
        try:
            self._launcher.cancel(run_id)
        except LauncherAway:
            raise
        except Exception as error:
            log.error("run_not_cancelled", run_id=run_id, reason=str(error))

    def _observe(
        self, attempts: Mapping[str, int], jobs: Mapping[str, int | None]
    ) -> dict[str, str]:
        """Tell the database what the launcher sees of these runs; return what followed, by run."""
        outcomes: dict[str, str] = {}
        for run_id, state in self._launcher.states(jobs).items() if jobs else ():
            outcomes[run_id] = self._caller.call(
                calls.observe_run, attempt_id=attempts[run_id], run=state
            )
            if outcomes[run_id] != "renew":
                log.info("run_ended", run_id=run_id, outcome=outcomes[run_id])
        return outcomes
