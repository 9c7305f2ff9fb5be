"""What compute cost, by the local source: the seconds that attempts ran, times a rate.

It is an estimate, labelled `local`, and provisional: what any other source tells replaces it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import psycopg

from forebay.calls import upkeep
from forebay.rows import AttemptToCost

BATCH = 1000
MOST_BATCHES = 100  # that one call records: whoever asks again gets on with what is left
HOUR = 3600
PLACES = Decimal("0.00000001")


def refresh_local(connection: psycopg.Connection[Any], *, usd_per_hour: Decimal) -> int:
    """Record what ended attempts cost that no source has told of; return of how many.

    The connection is one that commits each call, as a member of forebay_upkeep.
    """
    recorded = 0
    for _ in range(MOST_BATCHES):
        attempts = upkeep.attempts_to_cost(connection, limit=BATCH)
        rows = [_record(attempt, usd_per_hour) for attempt in attempts]
        recorded += upkeep.record_compute_usage(connection, rows=rows)  # also none: as of now
        if len(rows) < BATCH:
            break
    return recorded


def _record(attempt: AttemptToCost, usd_per_hour: Decimal) -> dict[str, Any]:
    ran = Decimal(str((attempt.finished_at - attempt.started_at).total_seconds()))
    seconds = max(ran, Decimal(0))
    return {
        "record_id": str(attempt.attempt_id),
        "attempt_id": attempt.attempt_id,
        "usd": _plain((seconds * usd_per_hour / HOUR).quantize(PLACES)),
        "seconds": _plain(seconds),
        "started_at": attempt.started_at.isoformat(),
        "ended_at": attempt.finished_at.isoformat(),
        "is_final": False,
    }


def _plain(number: Decimal) -> str:
    """Return all of a number's digits: str() writes a small one with an exponent."""
    return f"{number:f}"
