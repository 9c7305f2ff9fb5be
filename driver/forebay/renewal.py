"""Keep the leases of running attempts, from a thread that no handler and no step can hold up."""

import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import Connection

from forebay.calls import worker as calls
from forebay.leases import Lease, LocalTime, read_clock
from forebay.logs import EventLog, first_line
from forebay.pool import Database, cut_off
from forebay.rows import RenewedLease

log = EventLog(__name__)

STATEMENT_TIMEOUT = 5  # seconds: how long the server works on a renewal that was broken off
SHORTEST_PAUSE = 0.1  # seconds between two rounds
SHORTEST_TRY, LONGEST_TRY = 0.25, 5.0  # seconds until a try is broken off


class LeaseKeeper:
    """Renew the leases that it was given, for one worker, until they are dropped or over.

    `on_over` is called, in the thread that asked, with every lease that was not renewed. That
    answer is final: nobody asks about the lease again.
    """

    def __init__(
        self,
        database: Database,
        worker: str,
        on_over: Callable[[Lease], None] = lambda lease: None,
    ) -> None:
        self._database = replace(
            database, connect_timeout=2, tcp_timeout=10, statement_timeout=STATEMENT_TIMEOUT
        )
        self._worker = worker
        self._on_over = on_over
        self._leases: dict[int, Lease] = {}
        self._lock = threading.Lock()  # of the leases
        self._line = threading.Lock()  # of the connection; taken before the other
        self._connection: Connection[Any] | None = None
        self._stop = threading.Event()
        self._nudged = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease keeper", daemon=True)

    def start(self) -> None:
        """Begin to renew what is due; an error is logged, and what is due is tried again soon."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; leases that are still held run out by themselves."""
        self._stop.set()
        self._nudged.set()
        self._thread.join(1)

    def add(self, leases: Iterable[Lease]) -> None:
        """Take leases in; one of the same attempt is replaced."""
        with self._lock:
            self._leases.update((lease.attempt_id, lease) for lease in leases)
        self._nudged.set()

    def drop(self, lease: Lease) -> None:
        """Let go of a lease; one that is not there any more is left alone."""
        with self._lock:
            if self._leases.get(lease.attempt_id) is lease:
                del self._leases[lease.attempt_id]

    def ask_soon(self, leases: Iterable[Lease]) -> None:
        """Have the thread ask about these leases at once: one of them may be over."""
        for lease in leases:
            lease.renew_at = 0.0
        self._nudged.set()

    def renew(self, leases: Iterable[Lease]) -> None:
        """Renew those of the leases that are held, now and in one call. Raises what forbade it."""
        leases = list(leases)
        with self._line:
            try:
                over = self._renew(leases)
            except psycopg.OperationalError:  # the line may have been dead for long: another one
                over = self._renew(leases)
        for lease in over:
            log.info("lease_over", attempt_id=lease.attempt_id, state=lease.state)
            self._on_over(lease)

    def _run(self) -> None:
        while not self._stop.wait(SHORTEST_PAUSE):
            leases = self._held()
            try:
                if any(lease.renew_at <= time.monotonic() for lease in leases):
                    self.renew(leases)
            except Exception as error:
                log.warning("leases_not_renewed", leases=len(leases), reason=first_line(error))
                for lease in leases:
                    lease.put_off()
            self._nudged.wait(self._pause())
            self._nudged.clear()
        with self._line:
            self._disconnect()

    def _held(self) -> list[Lease]:
        with self._lock:
            return list(self._leases.values())

    def _pause(self) -> float | None:
        """Return the seconds until a lease is due, less the shortest pause; None: until nudged."""
        due_at = min((lease.renew_at for lease in self._held()), default=math.inf)
        return None if due_at == math.inf else max(due_at - time.monotonic() - SHORTEST_PAUSE, 0)

    def _renew(self, leases: list[Lease]) -> list[Lease]:
        """Renew in one call, broken off while there is time to try again on another connection."""
        leases = [lease for lease in leases if lease.is_held]
        if not leases:
            return []
        try:
            if self._connection is None:
                self._connection = self._database.connect()
            with cut_off(self._connection, _patience(leases)):
                local = read_clock(self._connection)
                asked_at = time.monotonic()
                ids = [lease.attempt_id for lease in leases]
                answers = calls.renew_leases(self._connection, worker=self._worker, attempt_ids=ids)
        except Exception:
            self._disconnect()
            raise
        return self._apply(leases, answers, local, asked_at)

    def _apply(
        self,
        leases: list[Lease],
        answers: list[RenewedLease],
        local: LocalTime,
        asked_at: float,
    ) -> list[Lease]:
        """Note the answers about leases that were not dropped; return those that are over."""
        by_attempt = {answer.attempt_id: answer for answer in answers}
        over = []
        with self._lock:
            for lease in leases:
                answer = by_attempt[lease.attempt_id]
                if self._leases.get(lease.attempt_id) is not lease:
                    continue
                if answer.state == "renewed" and answer.lease_expires_at is not None:
                    lease.extend(local(answer.lease_expires_at), asked_at)
                    continue
                lease.state = answer.state
                del self._leases[lease.attempt_id]
                over.append(lease)
        return over

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _patience(leases: list[Lease]) -> float:
    """Return the seconds that a try may take: half of what the shortest lease has left."""
    now = time.monotonic()
    left = min((lease.expires - now for lease in leases if lease.expires > now), default=math.inf)
    return min(max(left / 2, SHORTEST_TRY), LONGEST_TRY)
