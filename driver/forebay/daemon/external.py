"""The daemon's steps for runs outside of it: adopt them, observe them, cancel them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from forebay.calls import worker as calls
from forebay.daemon.pace import Every
from forebay.daemon.runs import Caller, Run, Runs
from forebay.errors import ForebayError
from forebay.jsonb import cut
from forebay.launchers import CancelFailed, ExternalLauncher, LauncherAway, LaunchFailed
from forebay.logs import EventLog
from forebay.rows import RunToCancel
from forebay.side_by_side import AT_ONCE, LONGEST, side_by_side

log = EventLog(__name__)

ADOPTED_AT_ONCE = 100
MISSED_EVERY = 10.0  # seconds; what is held up has a minute from one time to the next
HELD_UP = {
    "life_cycle_state": "LAUNCH_FAILED",
    "result_state": "UNREACHABLE",
    "termination_code": "EARLIER_RUN",
}
LONGEST_TEXT = 500  # characters
OF_ONE_RUN = (ForebayError, psycopg.DataError, psycopg.errors.QueryCanceled)
"""What the database does not take of one run; the last, as somebody else holds its attempt."""


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
                is_unclear=True,
                is_recorded=attempt.run_id is not None,
            )
            for attempt in adopted
        )
        count += len(adopted)
        if len(adopted) < ADOPTED_AT_ONCE:
            break
    return count


@dataclass(frozen=True, slots=True)
class Asked:
    """A run whose end was asked for; failure: what came in place of an answer."""

    row: RunToCancel
    failure: Exception | None = None


class ExternalRuns:
    """See to the runs of one launcher, which live on without this daemon."""

    def __init__(self, caller: Caller, runs: Runs, launcher: ExternalLauncher) -> None:
        self._caller = caller
        self._runs = runs
        self._launcher = launcher
        self._miss_due = Every(MISSED_EVERY)

    def observe(self) -> None:
        """Pass on the state of every run; let go of those whose attempt has ended."""
        runs = self._by_id()
        jobs = {run_id: run.attempt.job_id for run_id, run in runs.items()}
        for run_id, seen in self._states(jobs).items():
            self._pass_on(runs[run_id], seen)

    def miss(self, away: LauncherAway) -> None:
        """Say of every run, now and then, that it cannot be looked at: one in a queue waits on."""
        if self._miss_due.is_due():
            seen = away.seen | {"life_cycle_state": "POLL_FAILED"}
            for run in self._by_id().values():
                self._pass_on(run, seen)

    def make_way(self) -> int:
        """Ask for the ends of the runs before those that are to be launched, whoever else means to.

        Return how many may be launched now that could not before. One whose way is not free waits
        for the next time, at most until its deadline, which is put off meanwhile. Raises
        LauncherAway.
        """
        waiting = [run for run in self._runs.of(self._launcher) if not run.run_id]
        held = [run for run in waiting if not run.is_alone and run.way_due.is_due()]
        if not held:
            return 0
        ids = [run.attempt_id for run in held]
        rows = self._own(
            self._caller.call(calls.runs_before, worker=self._caller.worker, attempt_ids=ids)
        )
        asked = self._ask(rows)
        done = {
            one.row.attempt_id for one in asked if not one.failure or _names_no_run(one.failure)
        }
        in_the_way = {row.task_id for row in rows if row.attempt_id not in done}
        failed = {one.row.task_id: one for one in asked if one.row.attempt_id not in done}
        for run in held:
            run.is_alone = run.attempt.task_id not in in_the_way
        for run in held:
            if failure := failed.get(run.attempt.task_id):
                self._hold_up(run, failure)
        self._look_at(asked)
        return sum(run.is_alone for run in held)

    def cancel(self) -> None:
        """Cancel the runs whose attempts were ended from outside, and see whether they stopped.

        They are handed out a few at a time: what is handed out counts as asked, and comes last the
        next time. Raises LauncherAway.
        """
        asked: list[Asked] = []
        give_up_at = time.monotonic() + LONGEST
        is_more = True
        while is_more and time.monotonic() < give_up_at:
            rows = self._caller.call(
                calls.runs_to_cancel, worker=self._caller.worker, limit=AT_ONCE
            )
            asked += self._ask(self._own(rows))
            is_more = len(rows) == AT_ONCE and not _away(asked)
        self._look_at(asked)

    def _by_id(self) -> dict[str, Run]:
        return {run.run_id: run for run in self._runs.of(self._launcher) if run.run_id}

    def _own(self, rows: Iterable[RunToCancel]) -> list[RunToCancel]:
        return [row for row in rows if row.launcher == self._launcher.name]

    def _ask(self, rows: Sequence[RunToCancel]) -> list[Asked]:
        """Ask for the ends of runs, in any order: one that cannot be asked holds up no other one.

        Those that were not come to are left out, as are all others once the launcher is away.
        """
        unknown = [row for row in rows if row.run_id is None]
        launched = side_by_side(self._launcher.launch, unknown, end_at=LauncherAway)
        found = [self._found(row, outcome) for row, outcome in launched]
        failed = [one for one in found if one.failure]
        if _away(failed):
            return failed
        known = [row for row in rows if row.run_id] + [one.row for one in found if not one.failure]
        random.shuffle(known)
        cancelled = side_by_side(self._cancel, known, end_at=LauncherAway)
        return [*failed, *(Asked(row, failure) for row, failure in cancelled)]

    def _found(self, row: RunToCancel, outcome: str | Exception) -> Asked:
        """Take in what the launch token of an ended attempt gave: its run, or why there is none."""
        if isinstance(outcome, str):
            return Asked(replace(row, run_id=outcome), self._record(row.attempt_id, outcome))
        if isinstance(outcome, LaunchFailed) and not isinstance(outcome, LauncherAway):
            self._tell(row.attempt_id, outcome.seen)
        return Asked(row, outcome)

    def _record(self, attempt_id: int, run_id: str) -> Exception | None:
        """Record the run that a launch token named; return why it cannot be this one."""
        try:
            self._caller.call(calls.record_run, attempt_id=attempt_id, run_id=run_id)
        except OF_ONE_RUN as error:
            log.error("run_not_recorded", attempt_id=attempt_id, reason=str(error))
            return error
        return None

    def _cancel(self, row: RunToCancel) -> None:
        """Ask for the end of a run; there is nothing to ask of what is no run of the job."""
        assert row.run_id is not None
        log.info("cancelling", run_id=row.run_id)
        try:
            self._launcher.cancel(row.run_id, row.job_id)
        except LauncherAway:
            raise
        except Exception as error:
            log.error("run_not_cancelled", run_id=row.run_id, reason=str(error))
            if not isinstance(error, LaunchFailed):
                raise

    def _hold_up(self, run: Run, asked: Asked) -> None:
        """Have a launch wait that is not alone: nothing can begin, as when nobody answers.

        Where we may not ask for that end, somebody has to mend it, as when we may not launch.
        """
        run.way_due.put_off()
        if not isinstance(asked.failure, LauncherAway):
            said = f"attempt {asked.row.attempt_id} may still run: {asked.failure}"
            forbidden = {"result_state": "403"} if _is_forbidden(asked.failure) else {}
            self._pass_on(run, HELD_UP | forbidden | {"message": cut(said, LONGEST_TEXT)})

    def _look_at(self, asked: Sequence[Asked]) -> None:
        """See whether runs have ended. Raises LauncherAway if one of them could not be asked."""
        if away := _away(asked):
            raise away
        rows = {one.row.run_id: one.row for one in asked if one.row.run_id}
        jobs = {run_id: row.job_id for run_id, row in rows.items()}
        for run_id, seen in self._states(jobs).items():
            self._tell(rows[run_id].attempt_id, seen)

    def _states(self, jobs: Mapping[str, int | None]) -> dict[str, dict[str, Any]]:
        return self._launcher.states(jobs) if jobs else {}

    def _pass_on(self, run: Run, seen: Mapping[str, Any]) -> None:
        """Tell the database what was seen for an attempt; let go of it if that ended it."""
        if self._tell(run.attempt_id, seen) not in (None, "renew"):
            self._runs.drop(run)

    def _tell(self, attempt_id: int, state: Mapping[str, Any]) -> str | None:
        """Pass on one state; what the database does not take of one run concerns no other."""
        try:
            outcome = self._caller.call(calls.observe_run, attempt_id=attempt_id, run=dict(state))
        except OF_ONE_RUN as error:
            log.error("run_not_observed", attempt_id=attempt_id, reason=str(error))
            return None
        if outcome != "renew":
            log.info("run_ended", attempt_id=attempt_id, outcome=outcome)
        return outcome


def _is_forbidden(failure: Exception | None) -> bool:
    """Tell whether a run could not be asked to end, or be found by its token, as we may not."""
    if isinstance(failure, CancelFailed):
        return failure.is_forbidden
    return _is_refused(failure, "403")


def _names_no_run(failure: Exception | None) -> bool:
    """Tell whether a launch token itself was refused, as that of a run that was deleted is.

    Where it is the job that is invalid, so is the next launch: nothing begins beside the run.
    """
    return _is_refused(failure, "400")


def _is_refused(failure: Exception | None, status: str) -> bool:
    """Tell whether a launch token was answered with this status."""
    return isinstance(failure, LaunchFailed) and failure.seen.get("result_state") == status


def _away(asked: Iterable[Asked]) -> LauncherAway | None:
    aways = (one.failure for one in asked if isinstance(one.failure, LauncherAway))
    return next(aways, None)
