"""Report how attempts ended: successes together, the rest one by one."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import psycopg
from psycopg import Connection

from forebay.calls import agent as calls
from forebay.calls import worker as worker_calls
from forebay.errors import ForebayError
from forebay.handling import Failure, NotStarted, Outcome, Success
from forebay.logs import EventLog
from forebay.rows import TaskStatus

log = EventLog(__name__)

AWAY = (psycopg.OperationalError, psycopg.InterfaceError)  # also 40001, 40P01 and PoolTimeout
Connect = Callable[[], AbstractContextManager[Connection[Any]]]
Ended = Callable[[int, TaskStatus | None, bool], None]


class Reporter:
    """Bring outcomes to the database and tell `ended(attempt_id, status, is_finished)` of each.

    is_finished says that this report ended the task. While the database is away its error is
    raised, and what was not told of has to be reported again; a report twice does no harm.
    """

    def __init__(self, connect: Connect, ended: Ended) -> None:
        self._connect = connect
        self._ended = ended

    def report(self, outcomes: Mapping[int, Outcome]) -> None:
        self._complete(
            {id_: found for id_, found in outcomes.items() if isinstance(found, Success)}
        )
        for attempt_id, outcome in outcomes.items():
            if isinstance(outcome, Failure):
                self._fail(attempt_id, outcome)
            elif isinstance(outcome, NotStarted):
                self._release(attempt_id)

    def progress(self, reports: Mapping[int, tuple[int, int]]) -> None:
        """Show how far attempts are; what cannot be shown is dropped: the next one tells more."""
        for attempt_id, (done, total) in reports.items():
            try:
                with self._connect() as connection:
                    calls.report_progress(connection, attempt_id=attempt_id, done=done, total=total)
            except (ForebayError, psycopg.Error) as error:
                log.warning("progress_dropped", attempt_id=attempt_id, error=type(error).__name__)

    def _complete(self, successes: dict[int, Success]) -> None:
        """Report successes in one call; if one spoils it, each by itself."""
        if not successes:
            return
        try:
            with self._connect() as connection:
                rows = calls.complete_many(
                    connection,
                    attempt_ids=list(successes),
                    results=[success.result for success in successes.values()],
                    confidences=[success.confidence for success in successes.values()],
                )
        except AWAY:
            raise
        except (ForebayError, psycopg.Error) as error:
            if len(successes) > 1:
                for attempt_id, success in successes.items():
                    self._complete({attempt_id: success})
            else:
                self._fail(next(iter(successes)), Failure.of_result(error))
            return
        for row in rows:
            self._ended(row.attempt_id, row.status, row.effect in ("completed", "failed"))

    def _fail(self, attempt_id: int, failure: Failure) -> None:
        try:
            with self._connect() as connection:
                status = calls.fail(
                    connection,
                    attempt_id=attempt_id,
                    error=failure.error,
                    retryable=failure.retryable,
                    retry_after=failure.retry_after,
                )
        except AWAY:
            raise
        except (ForebayError, psycopg.Error) as error:
            if failure.retry_after is not None:  # a waiting time that Postgres refuses
                self._fail(attempt_id, Failure(failure.error, failure.retryable))
                return
            log.error("report_refused", attempt_id=attempt_id, error=type(error).__name__)
            self._ended(attempt_id, None, False)
            return
        self._ended(attempt_id, status, status == "failed")

    def _release(self, attempt_id: int) -> None:
        try:
            with self._connect() as connection:
                status = worker_calls.release(
                    connection, attempt_id=attempt_id, reason="the worker stopped"
                )
        except AWAY:
            raise
        except (ForebayError, psycopg.Error) as error:
            log.error("release_refused", attempt_id=attempt_id, error=type(error).__name__)
            self._ended(attempt_id, None, False)
            return
        self._ended(attempt_id, status, False)
