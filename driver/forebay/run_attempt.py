"""Run an agent for one attempt and report what came of it: the rule is the same wherever it runs.

What the agent returns is the result; `Reject` and `Retry` say what kind of failure it is, and any
other exception is the agent's bug. The report goes through `complete` or `fail` and is then
repeated through `callback`: either alone is enough.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import entry_points
from typing import Any

import psycopg

from forebay import agent as agents
from forebay.calls import agent as calls
from forebay.errors import ConnectError, ForebayError, InvalidDocumentError, TooLargeError
from forebay.failures import Failure
from forebay.logs import EventLog
from forebay.pool import Database

log = EventLog(__name__)

PROGRESS_EVERY = 0.5  # seconds
PROGRESS_PAUSE = 5.0  # seconds without progress reports after one could not be made
REPORT_WAITS = (0.1, 0.2, 0.5, 1.0)  # seconds between tries to report; the last one repeats


Outcome = agents.Result | Failure


class RunningAttempt:
    """The attempt as its agent sees it, and its line to the database, opened when first needed."""

    def __init__(self, document: Mapping[str, Any], cancelled: Callable[[], bool]) -> None:
        self.task_id: int = document["task_id"]
        self.attempt_id: int = document["attempt_id"]
        self.attempt_no: int = document["attempt_no"]
        self.agent: str = document["agent"]
        self.payload: dict[str, Any] = document["payload"]
        self.entry_point: str = document["entry_point"]
        self.deadline_at = datetime.fromisoformat(document["deadline_at"])
        self._database = Database(document["conninfo"], application_name="forebay attempt")
        self._cancelled = cancelled
        self._connection: psycopg.Connection[Any] | None = None
        self._no_progress_until = 0.0

    def progress(self, done: int, total: int) -> None:
        """Say that `done` of `total` steps are finished: twice a second at most, or not at all."""
        if time.monotonic() < self._no_progress_until and done < total:
            return
        try:
            self.call(calls.report_progress, done=done, total=total)
            pause = PROGRESS_EVERY
        except (psycopg.Error, ForebayError) as error:
            log.warning("progress_not_reported", error=type(error).__name__)
            pause = PROGRESS_PAUSE
        self._no_progress_until = time.monotonic() + pause

    def cancelled(self) -> bool:
        """Tell whether to stop: the task was cancelled, the lease lost, or the daemon stops."""
        return self._cancelled()

    def call(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """Call a stored function for this attempt, in a transaction of its own."""
        return function(self.connection(), attempt_id=self.attempt_id, **arguments)

    def connection(self) -> psycopg.Connection[Any]:
        """Return the connection, which commits each call; another one after it was lost."""
        if self._connection is None or self._connection.closed:
            self._connection = self._database.connect()
        return self._connection

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()


def run_attempt(attempt: RunningAttempt) -> bool:
    """Run the attempt's agent and report; return False if it was stopped and nothing is reported.

    The report is tried until the attempt's deadline; then the last error is raised.
    """
    outcome = _outcome(attempt)
    if outcome is None:
        return False
    try:
        _repeat(attempt, _report(attempt, outcome))
    finally:
        attempt.close()
    return True


def _outcome(attempt: RunningAttempt) -> Outcome | None:
    """Return the agent's result or failure; None when it gave up because it was told to stop."""
    try:
        result = _load(attempt.entry_point)(attempt)
    except (Exception, SystemExit) as error:
        if attempt.cancelled():
            return None
        if not isinstance(error, (agents.Reject, agents.Retry)):
            traceback.print_exception(error, file=sys.stderr)
        return Failure.of(error)
    if not isinstance(result, agents.Result):
        return Failure(
            {
                "kind": "agent_bug",
                "message": f"the agent returned {type(result).__name__}, not Result",
            },
            is_retryable=False,
        )
    return result


def _load(name: str) -> Callable[[agents.Attempt], agents.Result]:
    found = entry_points(group="forebay.agents")[name]
    function: Callable[[agents.Attempt], agents.Result] = found.load()
    return function


def _report(attempt: RunningAttempt, outcome: Outcome) -> Outcome:
    """Report the outcome until it is accepted, and return what was reported in the end.

    A result that cannot be stored becomes a failure for good: another attempt would end the same.
    """
    tries = 0
    while True:
        try:
            _send(attempt, outcome)
            return outcome
        except (TooLargeError, InvalidDocumentError, psycopg.DataError) as error:
            if isinstance(outcome, agents.Result):
                outcome = Failure.of_result(error)
            elif outcome.retry_after is not None:
                outcome = outcome.without_wait()
            else:
                raise
        except (psycopg.OperationalError, ConnectError) as error:
            if not _may_pass(error) or datetime.now(UTC) > attempt.deadline_at:
                raise
            log.warning("report_delayed", error=type(error).__name__)
            time.sleep(REPORT_WAITS[min(tries, len(REPORT_WAITS) - 1)])
            tries += 1


def _may_pass(error: Exception) -> bool:
    return not isinstance(error, ConnectError) or error.is_transient


def _send(attempt: RunningAttempt, outcome: Outcome) -> None:
    match outcome:
        case agents.Result():
            attempt.call(calls.complete, result=outcome.data, confidence=outcome.confidence)
        case Failure():
            attempt.call(
                calls.fail,
                error=outcome.error,
                retryable=outcome.is_retryable,
                retry_after=outcome.retry_after,
            )


def _repeat(attempt: RunningAttempt, outcome: Outcome) -> None:
    """Repeat the accepted report through `callback`; that it fails changes nothing."""
    try:
        calls.callback(attempt.connection(), event=_event(attempt, outcome))
    except (psycopg.Error, ForebayError) as error:
        log.warning("callback_failed", error=type(error).__name__)


def _event(attempt: RunningAttempt, outcome: Outcome) -> dict[str, Any]:
    data: dict[str, Any] = {"task_id": attempt.task_id, "attempt_id": attempt.attempt_id}
    match outcome:
        case agents.Result(data=result, confidence=confidence):
            kind = "task.completed"
            data["result"] = result
            data["confidence"] = None if confidence is None else str(confidence)
        case Failure(error, is_retryable, retry_after):
            kind = "task.failed"
            data["error"] = error
            data["retryable"] = is_retryable
            data["retry_after_seconds"] = retry_after and retry_after.total_seconds()
    return {"type": kind, "timestamp": datetime.now(UTC).isoformat(), "data": data}
