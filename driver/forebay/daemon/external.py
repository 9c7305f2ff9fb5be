"""The daemon's steps for runs outside of it: adopt them, observe them, cancel them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from forebay.calls import worker as calls
from forebay.daemon.runs import Caller, Run, Runs
from forebay.errors import ForebayError
from forebay.launchers import ExternalLauncher, LauncherAway, LaunchFailed
from forebay.logs import EventLog
from forebay.rows import RunToCancel
from forebay.side_by_side import side_by_side

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
        """Cancel the runs whose attempts were ended from outside, and see whether they stopped.

        Those of earlier attempts of what is to be launched are cancelled whoever else means to.
        """
        worker = self._caller.worker
        waiting = [run for run in self._runs.of(self._launcher) if not run.run_id]
        fresh = [run for run in waiting if not run.is_alone and run.attempt.attempt_no > 1]
        again = [run.attempt_id for run in fresh]
        rows = (
            self._caller.call(calls.runs_before, worker=worker, attempt_ids=again) if again else []
        )
        rows += self._caller.call(calls.runs_to_cancel, worker=worker)
        self._end({row.attempt_id: row for row in rows if row.launcher == self._launcher.name})
        for run in fresh:
            run.is_alone = True

    def _end(self, rows: Mapping[int, RunToCancel]) -> None:
        """Ask for the ends of runs, and look at them. Raises LauncherAway when it is away.

        One that cannot be cancelled holds up no other one.
        """
        ids = {row.attempt_id: row.run_id for row in rows.values() if row.run_id is not None}
        unknown = [row for row in rows.values() if row.run_id is None]
        found = side_by_side(self._launcher.launch, unknown, end_at=LauncherAway)
        for row, run_id in found:
            if isinstance(run_id, str) and self._is_recorded(row.attempt_id, run_id):
                ids[row.attempt_id] = run_id
            elif isinstance(run_id, LaunchFailed) and not isinstance(run_id, LauncherAway):
                self._tell(row.attempt_id, run_id.seen)
        ended = side_by_side(
            lambda one: self._cancel(rows[one].job_id, ids[one]), ids, end_at=LauncherAway
        )
        self._observe(
            {run_id: one for one, run_id in ids.items()},
            {run_id: rows[one].job_id for one, run_id in ids.items()},
        )
        if aways := [one for _, one in [*found, *ended] if isinstance(one, LauncherAway)]:
            raise aways[0]

    def _is_recorded(self, attempt_id: int, run_id: str) -> bool:
        """Record the run that a launch token named; False: it cannot be this one."""
        try:
            self._caller.call(calls.record_run, attempt_id=attempt_id, run_id=run_id)
        except ForebayError as error:
            log.error("run_not_recorded", attempt_id=attempt_id, reason=str(error))
            return False
        return True

    def _cancel(self, job_id: int | None, run_id: str) -> None:
        log.info("cancelling", run_id=run_id)
        try:
            self._launcher.cancel(run_id, job_id)
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
            if outcome := self._tell(attempts[run_id], state):
                outcomes[run_id] = outcome
        return outcomes

    def _tell(self, attempt_id: int, state: Mapping[str, Any]) -> str | None:
        """Pass on one state; what the database does not take of one run concerns no other."""
        try:
            outcome = self._caller.call(calls.observe_run, attempt_id=attempt_id, run=dict(state))
        except (ForebayError, psycopg.DataError) as error:
            log.error("run_not_observed", attempt_id=attempt_id, reason=str(error))
            return None
        if outcome != "renew":
            log.info("run_ended", attempt_id=attempt_id, outcome=outcome)
        return outcome
