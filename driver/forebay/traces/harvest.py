"""What attempts used, from their traces into the database: the source `trace`.

Traces are stored late, in part, or never. Which attempts are looked for, and until when, is the
database's matter. A look may be repeated: a call's id is its span's, so that nothing counts twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import psycopg

from forebay.calls import upkeep
from forebay.errors import TracesError
from forebay.logs import EventLog, first_line
from forebay.rows import AttemptToTrace
from forebay.traces.spans import CallsFound, SpanSeen, calls_of

log = EventLog(__name__)

AT_A_TIME = 20  # attempts: so many looks take less than the two minutes that they are lent for
MOST_FAILURES = 3  # in a row, after which no more is asked now
MOST_CALLS = 10_000  # of one attempt that are recorded


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """A trace; `is_whole`: it has ended, and so has every span of it. Without spans: unreadable."""

    trace_id: str
    spans: Sequence[SpanSeen] = ()
    is_whole: bool = False


Connected = Callable[[], AbstractContextManager[psycopg.Connection[Any]]]


class Traces(Protocol):
    """Where traces are."""

    def find(self, attempt: AttemptToTrace) -> list[FoundTrace]:
        """Return the traces of an attempt. Raises TracesError."""


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
    asked. Raises TracesError; what was not looked for is then due again two minutes later.
    """
    done = Traced()
    while not is_stopping():
        with connected() as connection:
            due = upkeep.attempts_to_trace(connection, limit=AT_A_TIME)
        for attempt, found in _found(traces, due):
            with connected() as connection:
                _record(connection, attempt, found, done)
            if is_stopping():
                return done
        if len(due) < AT_A_TIME:
            break
    return done


def _found(
    traces: Traces, due: Iterable[AttemptToTrace]
) -> Iterator[tuple[AttemptToTrace, Sequence[FoundTrace]]]:
    """Yield what there is of each attempt.

    One that cannot be read, while others can, counts as not found: it must not hold them up. Raises
    TracesError where none can, or so many in a row that MLflow seems to be away.
    """
    failed: list[AttemptToTrace] = []
    in_a_row, has_answered = 0, False
    error: TracesError | None = None
    for attempt in due:
        try:
            found = traces.find(attempt)
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
    read = [calls_of(trace.trace_id, trace.spans) for trace in found]
    told = CallsFound(
        calls=[call for each in read for call in each.calls],
        rollups=[key for each in read for key in each.rollups],
    )
    is_whole = all(trace.is_whole for trace in found) and len(told.calls) <= MOST_CALLS
    attempt_id, traces = attempt.attempt_id, len(found)
    try:
        state = upkeep.record_traces(
            connection,
            attempt_id=attempt_id,
            calls=told.calls[:MOST_CALLS],
            traces=traces,
            is_whole=is_whole,
            rollups=told.rollups,
        )
    except psycopg.DataError as error:  # something that nobody thought of: the others go on
        log.warning("traces_refused", attempt_id=attempt_id, reason=first_line(error))
        state = upkeep.record_traces(connection, attempt_id=attempt_id, calls=[], traces=traces)
    done.attempts += 1
    done.calls += len(told.calls)
    done.states[state] += 1
