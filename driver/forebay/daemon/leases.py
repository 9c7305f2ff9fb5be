"""The thread that keeps a daemon's leases alive, and learns from the answers what has to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from forebay.calls import worker as calls
from forebay.daemon.runs import Caller, Run, Runs
from forebay.logs import EventLog

log = EventLog(__name__)

LONGEST_WAIT = 5.0  # seconds: what a lease is renewed by where this machine's clock is wrong
SHORTEST_WAIT = 0.2
RETRY_AFTER_ERROR = 0.5


class LeaseKeeper:
    """Renew each run's lease before a third of what is left of it has passed.

    The database's clock alone says whether a lease lives. This machine's clock only picks the
    moment to ask, after five seconds at the latest. `on_told` is called, in the thread that asked,
    with every run whose lease was not renewed; such a run is not asked about again.
    """

    def __init__(self, caller: Caller, runs: Runs, on_told: Callable[[Run], None]) -> None:
        self._caller = caller
        self._runs = runs
        self._on_told = on_told
        self._nudged = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)

    def start(self) -> None:
        """Begin to renew what is due; an error is logged, and what is due is tried again soon."""
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(SHORTEST_WAIT):
            try:
                self.renew(self._due())
                wait = self._until_next() - SHORTEST_WAIT
            except Exception as error:
                log.warning("leases_not_renewed", error=type(error).__name__, reason=str(error))
                wait = RETRY_AFTER_ERROR
            self._nudged.wait(max(wait, 0))
            self._nudged.clear()

    def renew(self, runs: Sequence[Run]) -> None:
        """Renew these leases now, in one call, and note the answers in the runs.

        An answer other than renewed is final: a run that has one already is left out.
        """
        runs = [run for run in runs if run.told == "renewed"]
        if not runs:
            return
        ids = [run.attempt_id for run in runs]
        answers = self._caller.call(calls.renew_leases, worker=self._caller.worker, attempt_ids=ids)
        by_attempt = {answer.attempt_id: answer for answer in answers}
        for run in runs:
            answer = by_attempt[run.attempt_id]
            run.renew_at = time.monotonic() + _wait(answer.lease_expires_at)
            if answer.state != "renewed":
                run.told = answer.state
                log.info("lease_not_renewed", attempt_id=run.attempt_id, state=run.told)
                self._on_told(run)
        self._nudged.set()

    def ask_now(self, runs: Iterable[Run]) -> None:
        """Have the thread ask about these runs at once: one of them may have been cancelled."""
        for run in runs:
            run.renew_at = 0.0
        self._nudged.set()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        self._nudged.set()
        self._thread.join()

    def _live(self) -> list[Run]:
        return [run for run in self._runs.all() if run.told == "renewed"]

    def _due(self) -> list[Run]:
        now = time.monotonic()
        return [run for run in self._live() if run.renew_at <= now]

    def _until_next(self) -> float:
        now = time.monotonic()
        return min([LONGEST_WAIT, *(run.renew_at - now for run in self._live())])


def _wait(lease_expires_at: datetime | None) -> float:
    left = ((lease_expires_at or datetime.now(UTC)) - datetime.now(UTC)).total_seconds()
    return min(max(left / 3, SHORTEST_WAIT), LONGEST_WAIT)
