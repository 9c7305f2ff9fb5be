"""Claim work, also when the line breaks between the claim and its answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

import psycopg

from forebay.calls import worker as calls
from forebay.logs import EventLog
from forebay.rows import ClaimedAttempt

log = EventLog(__name__)

MARGIN = 1.0  # seconds before the lost call in which a claim may have begun, by another clock
STILL_RUNNING = 60.0  # seconds in which a call that was cut off may go on in the server

Call = Callable[..., Any]
"""Takes a stored function and its arguments; calls it in a transaction of its own."""


class Claims:
    """Claim for one worker; `known` tells which attempts it has in hand.

    For one thread, which claims for the same launchers each time. A claim that was made but not
    heard of would be lost with its lease, and cost the task an attempt. So before the next claim
    the database is asked what it was.
    """

    def __init__(self, worker: str, known: Callable[[], Iterable[int]]) -> None:
        self._worker = worker
        self._known = known
        self._lost_since: float | None = None
        self._lost_until = 0.0

    def claim(self, call: Call, **arguments: Any) -> list[ClaimedAttempt]:
        """Claim as `dequeue` does, or return what an earlier claim gave. Raises what forbade it."""
        if recovered := self._recover(call, arguments.get("launchers")):
            return recovered
        began = time.monotonic()
        try:
            claimed: list[ClaimedAttempt] = call(calls.dequeue, worker=self._worker, **arguments)
            return claimed
        except (psycopg.OperationalError, psycopg.InterfaceError):
            self._lost_since = self._lost_since or began
            self._lost_until = time.monotonic() + STILL_RUNNING
            raise

    def _recover(self, call: Call, launchers: Sequence[str] | None) -> list[ClaimedAttempt]:
        if self._lost_since is None:
            return []
        now = time.monotonic()
        recovered: list[ClaimedAttempt] = call(
            calls.recover_claims,
            worker=self._worker,
            known_ids=list(self._known()),
            within=timedelta(seconds=now - self._lost_since + MARGIN),
            launchers=launchers,
        )
        if now > self._lost_until:
            self._lost_since = None
        if recovered:
            log.info("claims_recovered", attempts=len(recovered))
        return recovered
