"""Report how attempts ended: successes together, the rest one by one."""

import time
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import psycopg
from psycopg import Connection

from forebay import acceptance
from forebay.calls import agent as calls
from forebay.calls import worker as worker_calls
from forebay.errors import ForebayError
from forebay.failures import Failure
from forebay.logs import EventLog, first_line
from forebay.rows import TaskStatus
from forebay.worker.handling import NotStarted, Outcome, Success

log = EventLog(__name__)

AWAY = (psycopg.OperationalError, psycopg.InterfaceError)  # also 40001, 40P01 and PoolTimeout
PROGRAM_LIMIT = "54"  # the class of errors that psycopg files under AWAY, but that stay
PROGRESS_EVERY = 0.5  # seconds
BATCH = 100  # results in one call: each may have a megabyte
Connect = Callable[[], AbstractContextManager[Connection[Any]]]
Ended = Callable[[int, TaskStatus | None, bool], None]


class _RefusedError(Exception):
    """The database will not take this report, however often it is sent."""


class Reporter:
    """Bring outcomes to the database and tell `ended(attempt_id, status, is_finished)` of each.

    is_finished says that this report ended the task; a status of None that it could not be made.
    `wake` is called when there is something to report. While the database is away its error is
    raised, and what was not told of has to be reported again; a report twice does no harm.
    """

    def __init__(self, connect: Connect, ended: Ended, wake: Callable[[], None]) -> None:
        self._connect = connect
        self._ended = ended
        self._wake = wake
        self._progress: dict[int, tuple[int, int]] = {}
        self._progress_at = 0.0
        self._usage: deque[tuple[int, dict[str, Any]]] = deque()
        self._unsent: dict[int, list[dict[str, Any]]] = {}

    def report(self, outcomes: Mapping[int, Outcome]) -> None:
        """Report all of them, and what was used before. Raises AWAY."""
        self._report_usage()
        successes = [
            (attempt_id, outcome)
            for attempt_id, outcome in outcomes.items()
            if isinstance(outcome, Success)
        ]
        for start in range(0, len(successes), BATCH):
            self._complete(successes[start : start + BATCH])
        for attempt_id, outcome in outcomes.items():
            if isinstance(outcome, Failure):
                self._fail(attempt_id, outcome)
            elif isinstance(outcome, NotStarted):
                self._release(attempt_id)

    def note_progress(self, attempt_id: int, done: int, total: int) -> None:
        """Keep how far an attempt is until it is shown; from any thread, and never waiting."""
        self._progress[attempt_id] = (done, total)

    def note_usage(self, attempt_id: int, call: dict[str, Any]) -> None:
        """Keep what a model call used until it is reported; from any thread, and never waiting."""
        self._usage.append((attempt_id, call))
        self._wake()  # until it is reported, quotas count what the call asked for

    def show_progress(self, in_hand: Container[int]) -> None:
        """Show how far attempts are; what cannot be shown is dropped: the next one tells more."""
        if time.monotonic() < self._progress_at:
            return
        self._progress_at = time.monotonic() + PROGRESS_EVERY
        while self._progress:
            attempt_id, (done, total) = self._progress.popitem()
            if attempt_id not in in_hand:
                continue
            try:
                self._call(calls.report_progress, attempt_id=attempt_id, done=done, total=total)
            except _RefusedError as error:
                log.warning("progress_refused", attempt_id=attempt_id, reason=str(error))

    def _report_usage(self) -> None:
        """Report what was noted, the calls of an attempt together. Raises AWAY: it is kept then."""
        while self._usage:
            attempt_id, call = self._usage.popleft()
            self._unsent.setdefault(attempt_id, []).append(call)
        while self._unsent:
            attempt_id, noted = next(iter(self._unsent.items()))
            self._report_calls(attempt_id, noted)
            del self._unsent[attempt_id]

    def _report_calls(self, attempt_id: int, noted: list[dict[str, Any]]) -> None:
        """Report calls at once; if one spoils it, each by itself."""
        try:
            self._call(calls.report_usage, attempt_id=attempt_id, usage=noted)
        except _RefusedError as error:
            if len(noted) > 1:
                for call in noted:
                    self._report_calls(attempt_id, [call])
            else:
                log.warning("usage_refused", attempt_id=attempt_id, reason=str(error))

    def _complete(self, successes: Sequence[tuple[int, Success]]) -> None:
        """Report successes in one call; if one spoils it, each by itself."""
        try:
            rows = self._call(
                calls.complete_many,
                attempt_ids=[attempt_id for attempt_id, _ in successes],
                results=[success.result for _, success in successes],
                confidences=[success.confidence for _, success in successes],
            )
        except _RefusedError as error:
            if len(successes) > 1:
                for success in successes:
                    self._complete([success])
            else:
                self._fail(successes[0][0], Failure.of_result(error))
            return
        for _, stored in successes:
            acceptance.notify(stored.accepted)
        for row in rows:
            self._ended(row.attempt_id, row.status, row.effect in ("completed", "failed"))

    def _fail(self, attempt_id: int, failure: Failure) -> None:
        try:
            status = self._call(
                calls.fail,
                attempt_id=attempt_id,
                error=failure.error,
                retryable=failure.is_retryable,
                retry_after=failure.retry_after,
            )
        except _RefusedError as error:
            log.warning("failure_refused", attempt_id=attempt_id, reason=str(error))
            if failure.retry_after is None:
                self._ended(attempt_id, None, False)
            else:  # a waiting time that the database does not take: the agent's backoff, then
                self._fail(attempt_id, failure.without_wait())
            return
        self._ended(attempt_id, status, status == "failed")

    def _release(self, attempt_id: int) -> None:
        try:
            status = self._call(
                worker_calls.release, attempt_id=attempt_id, reason="the worker stopped"
            )
        except _RefusedError as error:
            log.warning("release_refused", attempt_id=attempt_id, reason=str(error))
            status = None
        self._ended(attempt_id, status, False)

    def _call(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """Call in a transaction of its own. Raises AWAY, or _RefusedError with one line."""
        try:
            with self._connect() as connection:
                return function(connection, **arguments)
        except (ForebayError, psycopg.Error) as error:
            is_limit = (error.sqlstate or "").startswith(PROGRAM_LIMIT)
            if isinstance(error, AWAY) and not is_limit:
                raise
            raise _RefusedError(first_line(error)) from error
