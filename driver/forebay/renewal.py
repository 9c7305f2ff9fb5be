"""Keep the leases of running attempts, from a thread that no handler can hold up.

The database's clock alone decides whether a lease has expired. Here its times are turned into
`time.monotonic()` of this process, always on the early side, so that the work knows when to stop
while the database is away.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from psycopg import Connection

from forebay.calls import worker as calls
from forebay.calls.viewer import server_time
from forebay.logs import EventLog
from forebay.pool import Database, cut_off
from forebay.rows import ClaimedAttempt, RenewedLease

log = EventLog(__name__)

STATEMENT_TIMEOUT = 5  # seconds: how long the server works on a renewal that was broken off
SHORTEST_PAUSE = 0.05  # seconds between two rounds
LONGEST_RETRY = 1.0  # seconds between tries while the database is away

LocalTime = Callable[[datetime], float]


def read_clock(connection: Connection[Any]) -> LocalTime:
    """Return what turns a time of the database into `time.monotonic()`, never a late one."""
    asked_at = time.monotonic()
    now = server_time(connection)
    return lambda moment: asked_at + (moment - now).total_seconds()


class Lease:
    """One attempt's lease in local time; it is due for renewal when a third of it has passed."""

    def __init__(self, claim: ClaimedAttempt, local: LocalTime) -> None:
        self.attempt_id = claim.attempt_id
        self.deadline = local(claim.deadline_at)
        self._is_over = False
        self.extend(local(claim.lease_expires_at), time.monotonic())

    @property
    def is_over(self) -> bool:
        """Tell whether the work should stop: cancelled, lost, expired, or past its deadline."""
        return self._is_over or time.monotonic() >= self.expires

    def extend(self, expires: float, asked_at: float) -> None:
        self.expires = expires
        self.renew_at = (
            math.inf if expires >= self.deadline else asked_at + (expires - asked_at) / 3
        )

    def put_off(self) -> None:
        """Try again soon: the renewal did not reach the database."""
        left = max(self.expires - time.monotonic(), 0)
        self.renew_at = time.monotonic() + min(LONGEST_RETRY, max(left / 10, SHORTEST_PAUSE))

    def end(self) -> None:
        self._is_over = True


class Renewer:
    """Renew the leases that it was given, for one worker, until they are dropped or lost."""

    def __init__(self, database: Database, worker: str) -> None:
        self._database = replace(
            database, connect_timeout=2, tcp_timeout=10, statement_timeout=STATEMENT_TIMEOUT
        )
        self._worker = worker
        self._leases: dict[int, Lease] = {}
        self._changed = threading.Condition()
        self._is_stopping = False
        self._connection: Connection[Any] | None = None
        self._thread = threading.Thread(target=self._run, name="forebay renewer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread; leases that are still held run out by themselves."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        self._thread.join(LONGEST_RETRY)

    def add(self, lease: Lease) -> None:
        with self._changed:
            self._leases[lease.attempt_id] = lease
            self._changed.notify()

    def drop(self, attempt_id: int) -> None:
        with self._changed:
            self._leases.pop(attempt_id, None)

    def _run(self) -> None:
        while leases := self._await_due():
            try:
                self._renew(leases)
            except Exception as error:
                log.warning("renewal_failed", leases=len(leases), error=type(error).__name__)
                self._disconnect()
                for lease in leases:
                    lease.put_off()
        self._disconnect()

    def _await_due(self) -> list[Lease]:
        """Wait until a lease is due and return all that are held; none means to stop."""
        with self._changed:
            while not self._is_stopping:
                due_at = min((lease.renew_at for lease in self._leases.values()), default=math.inf)
                pause = due_at - time.monotonic()
                if pause <= 0:
                    return list(self._leases.values())
                self._changed.wait(None if pause == math.inf else max(pause, SHORTEST_PAUSE))
        return []

    def _renew(self, leases: list[Lease]) -> None:
        """Renew in one call, broken off while there is time to try again on another connection."""
        if self._connection is None:
            self._connection = self._database.connect()
        now = time.monotonic()
        left = min((x.expires - now for x in leases if x.expires > now), default=LONGEST_RETRY)
        with cut_off(self._connection, left / 2):
            local = read_clock(self._connection)
            asked_at = time.monotonic()
            answers = calls.renew_leases(
                self._connection,
                worker=self._worker,
                attempt_ids=[lease.attempt_id for lease in leases],
            )
        for answer in answers:
            self._apply(answer, local, asked_at)

    def _apply(self, answer: RenewedLease, local: LocalTime, asked_at: float) -> None:
        with self._changed:
            lease = self._leases.get(answer.attempt_id)
            if lease is None:
                return
            if answer.state == "renewed" and answer.lease_expires_at is not None:
                lease.extend(local(answer.lease_expires_at), asked_at)
                return
            lease.end()
            del self._leases[answer.attempt_id]
        log.info("lease_over", attempt_id=answer.attempt_id, state=answer.state)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
