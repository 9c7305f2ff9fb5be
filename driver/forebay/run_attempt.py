"""Run an agent for one attempt and report what came of it: the rule is the same wherever it runs.

What the agent returns is the result; `Reject` and `Retry` say what kind of failure it is, and any
other exception is the agent's bug. The report goes through `complete` or `fail` and is then
repeated as a callback, over HTTP where a receiver is set up: either alone is enough.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import entry_points
from typing import Any

import psycopg

from forebay import acceptance
from forebay import agent as agents
from forebay.callbacks import Callbacks
from forebay.calls import agent as calls
from forebay.errors import ConnectError, ForebayError, InvalidDocumentError, TooLargeError
from forebay.failures import Failure
from forebay.logs import EventLog
from forebay.running_attempt import AWAY, RunningAttempt

log = EventLog(__name__)

REPORT_WAITS = (0.1, 0.2, 0.5, 1.0)  # seconds between tries to report; the last one repeats
SECONDS_AFTER_STOP = 2.0
SECONDS_AFTER_REPORT = 600.0
"""How long model calls are still told to a database that is away, once all else is done."""

Outcome = agents.Result | Failure


def run_attempt(
    attempt: RunningAttempt, before_report: Callable[[Outcome], None] = lambda outcome: None
) -> bool:
    """Run the attempt's agent and report; return False if it was stopped and nothing is reported.

    The report is tried until the attempt's deadline; then the last error is raised. While the
    database is away from here, the callback's receiver may take it. `before_report` is called with
    what the agent's work came to, which is not told to anybody yet.
    """
    outcome = _outcome(attempt)
    if outcome is None:
        _send_rest(attempt, SECONDS_AFTER_STOP)
        return False
    callbacks = Callbacks.from_settings(attempt.cancelled)
    try:
        before_report(outcome)
        reported = _report(attempt, outcome, callbacks)
        if isinstance(reported, agents.Result):
            acceptance.notify(reported.accepted)
        _repeat(attempt, reported, callbacks)
        seconds = min(SECONDS_AFTER_REPORT, attempt.seconds_left())
        _send_rest(attempt, seconds, attempt.cancelled)
    finally:
        if callbacks:
            callbacks.close()
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
    known = entry_points(group="forebay.agents")
    if name not in known.names:
        there = ", ".join(sorted(known.names)) or "none"
        said = f"no agent {name!r} is installed where it was to run (there: {there})"
        raise agents.Reject(f"{said}: correct the entry point, or install it", kind="agent_bug")
    function: Callable[[agents.Attempt], agents.Result] = known[name].load()
    return function


def _report(attempt: RunningAttempt, outcome: Outcome, callbacks: Callbacks | None) -> Outcome:
    """Report the outcome until it is accepted, and return what was reported in the end.

    A result that cannot be stored becomes a failure for good: another attempt would end the same.
    """
    tries = 0
    taken: threading.Event | None = None
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
        except AWAY as error:
            if callbacks and taken is None:
                taken = callbacks.begin(_event(attempt, outcome))
            if taken and taken.is_set():
                return outcome
            # Whoever gave this work was connected: but for a login that is refused, it may pass.
            is_final = isinstance(error, ConnectError) and error.is_final
            if is_final or attempt.seconds_left() <= 0:
                raise
            log.warning("report_delayed", error=type(error).__name__)
            time.sleep(REPORT_WAITS[min(tries, len(REPORT_WAITS) - 1)])
            tries += 1


def _send(attempt: RunningAttempt, outcome: Outcome) -> None:
    attempt.send_usage()
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


def _send_rest(
    attempt: RunningAttempt, seconds: float, is_to_stop: Callable[[], bool] = lambda: False
) -> None:
    """Report the model calls that are left, where no report of ours waited for them."""
    give_up_at = time.monotonic() + seconds
    while not attempt.try_to_send_usage():
        if is_to_stop() or time.monotonic() > give_up_at:
            break
        time.sleep(REPORT_WAITS[-1])


def _repeat(attempt: RunningAttempt, outcome: Outcome, callbacks: Callbacks | None) -> None:
    """Repeat the accepted report as a callback; that it fails changes nothing."""
    if callbacks:
        callbacks.send(_event(attempt, outcome))
        return
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
