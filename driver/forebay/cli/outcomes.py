"""What became of documents that went through the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from forebay.cli import output

if TYPE_CHECKING:
    import psycopg


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the final table; document is its path below the folder that was given.

    fields is how many were found, found the first of them in short; seconds are those of the
    last attempt, of which its model calls waited so many for their turn; cost_usd is that of all
    attempts, None where nothing is known of it.
    """

    document: str
    task_id: int | None
    state: str
    pages: int | None = None
    found: str | None = None
    fields: int | None = None
    confidence: Decimal | None = None
    attempts: int | None = None
    seconds: float | None = None
    waited: float | None = None
    cost_usd: Decimal | None = None
    reason: str | None = None


TABLE: output.Columns = {
    "document": "document",
    "state": "state",
    "pages": "pages",
    "found": "found",
    "fields": "fields",
    "confidence": "confidence",
    "attempts": "attempts",
    "seconds": "seconds",
    "waited": "waited",
}


def outcome_of(conn: psycopg.Connection[Any], task_id: int, name: str) -> Outcome:
    """Return what became of a task."""
    from forebay.calls import reader, viewer

    detail = viewer.task_detail(conn, task_id=task_id)
    result = reader.task_result(conn, task_id=task_id).result or {}
    fields = result.get("fields")
    last = detail.attempts[-1] if detail.attempts else None
    return Outcome(
        document=name,
        task_id=task_id,
        state=detail.status,
        pages=result.get("page_count"),
        found=None if fields is None else _in_short(fields),
        fields=None if fields is None else len(fields),
        confidence=detail.confidence,
        attempts=detail.attempt_count,
        seconds=_seconds(last) if last else None,
        waited=_waited(last) if last else None,
        cost_usd=_cost(detail.attempts),
        reason=detail.error["message"] if detail.error else None,
    )


def _in_short(fields: dict[str, str]) -> str:
    """Return kind and number, and the total in its currency, as far as they were found."""
    parts = (("kind", "number"), ("total", "currency"))
    said = (" ".join(fields[name] for name in part if name in fields) for part in parts)
    return ", ".join(filter(None, said))


def _seconds(attempt: dict[str, Any]) -> float | None:
    """Return how long an attempt took."""
    if not attempt["finished_at"]:
        return None
    began, ended = (datetime.fromisoformat(attempt[at]) for at in ("started_at", "finished_at"))
    return round((ended - began).total_seconds(), 1)


def _waited(attempt: dict[str, Any]) -> float | None:
    """Return how long an attempt's model calls waited for their turn, None where they did not."""
    return round(float(attempt["held_up_seconds"]), 1) or None


def _cost(attempts: Sequence[dict[str, Any]]) -> Decimal | None:
    known = [cost for attempt in attempts if (cost := attempt["cost_usd"]) is not None]
    return sum((Decimal(str(cost)) for cost in known), Decimal(0)) if known else None
