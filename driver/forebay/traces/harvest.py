"""What attempts used, from their traces into the database: the source `trace`.

Traces are stored late, in part, or never. Which attempts are looked for, and until when, is the
database's matter. A look may be repeated: what it sees replaces what an earlier one saw.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import psycopg

from forebay.calls import upkeep
from forebay.errors import InvalidDocumentError, TracesError
from forebay.logs import EventLog, first_line
from forebay.rows import AttemptToTrace
from forebay.traces.spans import SpanSeen, calls_of

log = EventLog(__name__)

AT_A_TIME = 20  # attempts, which are lent for two minutes
LOOK_SECONDS = 90.0  # of these, in which they are looked for
RECORD_SECONDS = 110.0  # and in which what was found is recorded: then somebody else may look
MOST_FAILURES = 3  # in a row, after which no more is asked now
MOST_CALLS = 10_000  # of one attempt that are recorded
REFUSED = (psycopg.DataError, InvalidDocumentError)


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """A trace; `is_whole`: it has ended, and so has every span of it. Without spans: not read."""

    trace_id: str
    spans: Sequence[SpanSeen] = ()
    is_whole: bool = False


Connected = Callable[[], AbstractContextManager[psycopg.Connection[Any]]]


class Traces(Protocol):
    """Where traces are."""

    def find(self, attempt: AttemptToTrace, seconds: float) -> list[FoundTrace]:
        """Return the traces of an attempt, also those that could not be read, in so many seconds.

        Raises TracesError where nobody can tell which there are.
        """


@dataclass(slots=True)
class Traced:
    """How many attempts were looked for, and how many calls their traces tell of.

    `states` counts attempts by what the database says: found, partial, awaited, missing.
    """

    attempts: int = 0
    calls: int = 0
    states: Counter[str] = field(default_factory=Counter)


def refresh_traces(
    connected: Connected,
    traces: Traces,
    *,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Traced:
    """Look for the traces of all attempts that are due, and record what they tell.

    A connection commits each call, as a member of forebay_upkeep; none is held while MLflow is
    asked. Ends early where MLflow is so slow that others may look for the same attempts meanwhile.
    Raises TracesError. What was not looked for is in both cases due again two minutes later.
    """
    done = Traced()
    while not is_stopping():
        began = time.monotonic()
        with connected() as connection:
            due = upkeep.attempts_to_trace(connection, limit=AT_A_TIME)
        recorded = 0
        for attempt, found in _found(traces, due, began + LOOK_SECONDS):
            if time.monotonic() >= began + RECORD_SECONDS:
                break
            with connected() as connection:
                _record(connection, attempt, found, done)
            recorded += 1
            if is_stopping():
                return done
        if recorded < len(due):
            log.warning("traces_left_for_later", attempts=len(due) - recorded)
        if recorded < AT_A_TIME:
            break
    return done


def _found(
    traces: Traces, due: Iterable[AttemptToTrace], ends_at: float
) -> Iterator[tuple[AttemptToTrace, Sequence[FoundTrace]]]:
    """Yield what there is of each attempt, until it is so late that no more are looked for.

    One that cannot be read, while others can, counts as not found: it must not hold them up. Raises
    TracesError where none can, or so many in a row that MLflow seems to be away.
    """
    failed: list[AttemptToTrace] = []
    in_a_row, has_answered = 0, False
    error: TracesError | None = None
    for attempt in due:
        seconds = ends_at - time.monotonic()
        if seconds <= 0:
            break
        try:
            found = traces.find(attempt, seconds)
        except TracesError as failure:
            log.warning("traces_not_read", attempt_id=attempt.attempt_id, reason=str(failure))
            error, in_a_row = failure, in_a_row + 1
            failed.append(attempt)
            if in_a_row == MOST_FAILURES:
                raise
        else:
            in_a_row, has_answered = 0, True
            yield attempt, found
    if error and not has_answered:
        raise error
    yield from ((attempt, ()) for attempt in failed)


def _record(
    connection: psycopg.Connection[Any],
    attempt: AttemptToTrace,
    found: Sequence[FoundTrace],
    done: Traced,
) -> None:
    """Record what was found; what the database takes from no trace is left out, and named."""
    try:
        calls, state = _tell(connection, attempt, found, len(found))
    except REFUSED:
        taken = [trace for trace in found if _is_taken(connection, attempt, trace)]
        calls, state = _tell(connection, attempt, taken, len(found))
    done.attempts += 1
    done.calls += calls
    done.states[state] += 1


def _tell(
    connection: psycopg.Connection[Any],
    attempt: AttemptToTrace,
    read: Sequence[FoundTrace],
    traces: int,
) -> tuple[int, str]:
    """Record the calls of the traces that were read, of so many that there are.

    Return how many calls these are, and how far the search is.
    """
    calls = [call for trace in read for call in calls_of(trace.trace_id, trace.spans)]
    is_whole = len(read) == traces and all(trace.is_whole for trace in read)
    return len(calls), upkeep.record_traces(
        connection,
        attempt_id=attempt.attempt_id,
        calls=calls[:MOST_CALLS],
        traces=traces,
        is_whole=is_whole and len(calls) <= MOST_CALLS,
    )


def _is_taken(
    connection: psycopg.Connection[Any], attempt: AttemptToTrace, trace: FoundTrace
) -> bool:
    """Try what the database says to one trace alone, and leave everything as it is."""
    try:
        with connection.transaction(force_rollback=True):
            _tell(connection, attempt, [trace], 1)
    except REFUSED as error:
        log.warning(
            "trace_refused",
            attempt_id=attempt.attempt_id,
            trace_id=trace.trace_id,
            reason=first_line(error),
        )
        return False
    return True
