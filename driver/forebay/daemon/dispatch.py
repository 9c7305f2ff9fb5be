"""The daemon's steps from a claim to a recorded run, the same for every launcher."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from forebay.calls import agent as agent_calls
from forebay.calls import worker as calls
from forebay.claims import Claims
from forebay.daemon.jobs import Jobs
from forebay.daemon.runs import Caller, Run, Runs
from forebay.errors import ForebayError
from forebay.launchers import JobAway, Launcher, LauncherAway, LaunchFailed, LaunchRefused
from forebay.logs import EventLog
from forebay.renewal import LeaseKeeper

log = EventLog(__name__)

LARGEST_CLAIM = 100
REFUSED_RETRY = timedelta(seconds=30)
LONGEST_LAUNCHING = 2.0  # seconds in which no other launch is begun after others
TOLD_AGAIN = 20.0  # seconds after which the deadline of what cannot be launched is put off again


class Dispatch:
    """Claim attempts for one launcher, launch them once each, and record their runs.

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
        launcher: Launcher,
    ) -> None:
        self._caller = caller
        self._runs = runs
        self._keeper = keeper
        self._on_over = on_over
        self._stop = stop
        self._agents = agents
        self._launcher = launcher
        self._claims = Claims(caller.worker, lambda: [run.attempt_id for run in runs.all()])
        self._jobs = Jobs()
        self._lock = threading.Lock()  # once the stop is set, nothing more is tried

    def check(self) -> None:
        """Claim nothing and report nothing, to raise what forbids it: before anything is held."""
        self._caller.call_cancellably(
            calls.dequeue, worker=self._caller.worker, agents=self._agents, launchers=[]
        )
        self._caller.call_cancellably(agent_calls.complete_many, attempt_ids=[], results=[])

    def claim(self) -> int:
        """Claim as many attempts as the launcher has slots for; return how many.

        Those of jobs that take no run use none, nor do those that are held back: the database hands
        out a few of an agent's at most.
        """
        used = sum(not self._is_in_no_way(run) for run in self._mine())
        room = min(self._launcher.slots - used, LARGEST_CLAIM)
        if room <= 0:
            return 0
        claimed = self._claims.claim(
            self._caller.call_cancellably,
            agents=self._agents,
            batch_size=room,
            launchers=[self._launcher.name],
        )
        self._runs.add(Run(attempt, self._launcher) for attempt in claimed)
        return len(claimed)

    def record(self) -> None:
        """Record what was launched and is not recorded yet."""
        for run in self._mine():
            if run.run_id is not None and not run.is_recorded:
                self._record(run, run.run_id)

    def launch(self) -> int:
        """Launch what has no run yet, until the daemon is stopped, and record each run.

        Those of jobs that took no run the last time come after the others, and take none of their
        time. Return 1 if some is left after a while, in which other things may have become due.
        Raises LauncherAway: then what is left was not tried.
        """
        self.record()
        waiting = self._waiting()
        self._keeper.renew(run.lease for run in waiting)
        away = [run for run in waiting if self._is_away(run)]
        others = [run for run in waiting if not self._is_away(run)]
        is_any_left = [
            self._launch_all(others),
            self._launch_all(sorted(away, key=lambda run: run.tried_at)),
        ]
        return int(any(is_any_left))

    def drop_lost(self) -> None:
        """Let go of what somebody else has become to see to."""
        mine = self._mine()
        self._keeper.renew(run.lease for run in mine)
        for run in mine:
            if not run.lease.is_held:
                self._runs.drop(run)

    def hold(self, away: LauncherAway) -> None:
        """See that no attempt suffers while the launcher is away.

        One whose launch was tried is kept, and the database puts its deadline off; what was not is
        handed back. What has a run is left alone.
        """
        for run in self._waiting():
            if run.is_tried:
                self._observe(run, away)
            else:
                self._release(run, str(away), timedelta())

    def release_untried(self) -> None:
        """Hand back what was never tried, once stopped; what may have a run is to be adopted."""
        with self._lock:
            untried = [run for run in self._mine() if not run.is_tried]
        for run in untried:
            self._let_go(run)

    def _mine(self) -> list[Run]:
        return self._runs.of(self._launcher)

    def _waiting(self) -> list[Run]:
        return [run for run in self._mine() if run.run_id is None]

    def _is_away(self, run: Run) -> bool:
        return self._jobs.failure(run.attempt.job_id) is not None

    def _is_in_no_way(self, run: Run) -> bool:
        """Tell whether a run takes no slot, as it waits for what may take long."""
        return run.run_id is None and (run.is_held_back or self._is_away(run))

    def _launch_all(self, runs: Sequence[Run]) -> bool:
        """Launch runs for a while; tell whether some are left that may be tried."""
        give_up_at = time.monotonic() + LONGEST_LAUNCHING
        is_any_left = False
        for run in runs:
            is_late = time.monotonic() > give_up_at
            is_left_alone = self._jobs.is_left_alone(run.attempt.job_id)
            is_any_left |= is_late and run.is_alone and not is_left_alone
            if not self._may_be_launched(run, is_late or is_left_alone):
                continue
            if not self._may_try(run):
                break
            self._launch(run)
        return is_any_left

    def _may_be_launched(self, run: Run, is_too_late: bool) -> bool:
        """Tell whether nothing stands against a launch, and see to what does."""
        if not run.lease.is_held:
            self._let_go(run)
        elif is_too_late and run.is_alone:
            self._tell_again(run)
        return run.lease.is_held and run.is_alone and not is_too_late

    def _may_try(self, run: Run) -> bool:
        with self._lock:
            if not self._stop.is_set():
                run.is_unclear, run.is_tried = run.is_tried, True
            return not self._stop.is_set()

    def _launch(self, run: Run) -> None:
        run.tried_at = time.monotonic()
        try:
            run.run_id = self._launcher.launch(run.attempt)
        except LauncherAway:
            raise
        except LaunchRefused as refusal:
            log.warning("launch_refused", attempt_id=run.attempt_id, reason=str(refusal))
            self._release(run, str(refusal), REFUSED_RETRY)
        except LaunchFailed as failure:
            log.warning("launch_failed", attempt_id=run.attempt_id, reason=str(failure))
            if isinstance(failure, JobAway):
                self._jobs.leave(run.attempt.job_id, failure)
            self._observe(run, failure)
        except Exception as error:  # whether there is a run is open: the same token finds out
            log.warning("launch_unclear", attempt_id=run.attempt_id, reason=str(error))
        else:
            self._jobs.be_back(run.attempt.job_id)
            log.info(
                "launched", attempt_id=run.attempt_id, agent=run.attempt.agent, run_id=run.run_id
            )
            self._record(run, run.run_id)

    def _tell_again(self, run: Run) -> None:
        """Tell how other launches of the job failed, unless the database heard of it lately."""
        failure = self._jobs.failure(run.attempt.job_id)
        if failure and time.monotonic() >= run.told_at + TOLD_AGAIN:
            self._observe(run, failure)

    def _observe(self, run: Run, failure: LaunchFailed) -> None:
        """Tell the database how a launch failed; keep the attempt if it is to be tried again."""
        run.told_at = time.monotonic()
        is_away = isinstance(failure, LauncherAway)
        said = {"is_unclear": run.is_unclear, "is_launcher_away": is_away}
        outcome = self._caller.call(
            calls.observe_run,
            attempt_id=run.attempt_id,
            run=failure.seen | {name: True for name, is_so in said.items() if is_so},
        )
        if outcome != "renew":
            log.info("launch_given_up", attempt_id=run.attempt_id, outcome=outcome)
            self._runs.drop(run)

    def _record(self, run: Run, run_id: str) -> None:
        try:
            self._caller.call(calls.record_run, attempt_id=run.attempt_id, run_id=run_id)
        except ForebayError as error:
            log.error("run_not_recorded", attempt_id=run.attempt_id, reason=str(error))
            run.lease.state = "lost"
            self._keeper.drop(run.lease)
        run.is_recorded = True
        if not run.lease.is_held:  # the answer came while it was being launched
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
