"""The attempts of a task as bars along its life."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from forebay.rows import Document, TaskDetail
from forebay_apps.orchestrator.links import Links

LEAST_WIDTH = 6.0


@dataclass(frozen=True, slots=True)
class Span:
    """One attempt: where its bar lies on the task's life, in thousandths, and what it is about.

    cost_usd is None while it is not known; lease_left is None for an attempt that has ended. Of two
    sources of usage the attempt's usage_source is the one that counts.
    """

    attempt: Document
    usage: list[Document]
    calls: int
    has_two_sources: bool
    x: float
    width: float
    started_at: datetime
    finished_at: datetime | None
    took: timedelta
    waited: timedelta
    cost_usd: Decimal | None
    compute_usd: Decimal | None
    lease_left: timedelta | None
    run_url: str | None
    trace_url: str | None


def spans(detail: TaskDetail, now: datetime, links: Links, job_id: int | None) -> list[Span]:
    """Return the attempts of a task, oldest first; now is the database's."""
    end = max([detail.finished_at or now, *_ends(detail.attempts)])
    whole = max(end - detail.created_at, timedelta(milliseconds=1))
    found: list[Span] = []
    before = detail.created_at
    for attempt in detail.attempts:
        started, finished = moment(attempt["started_at"]), moment(attempt["finished_at"])
        assert started is not None
        width = max(LEAST_WIDTH, 1000 * (((finished or now) - started) / whole))
        lease = moment(attempt["lease_expires_at"])
        usage = [call for call in detail.usage if call["attempt_id"] == attempt["attempt_id"]]
        has_two_sources = len({call["source"] for call in usage}) > 1
        counted = [call for call in usage if call["source"] == attempt["usage_source"]]
        found.append(
            Span(
                attempt=attempt,
                usage=usage,
                calls=len(counted if has_two_sources else usage),
                has_two_sources=has_two_sources,
                x=min(1000 - LEAST_WIDTH, 1000 * ((started - detail.created_at) / whole)),
                width=width,
                started_at=started,
                finished_at=finished,
                took=(finished or now) - started,
                waited=max(started - before, timedelta()),
                cost_usd=amount(attempt["cost_usd"]),
                compute_usd=amount(attempt.get("compute_usd")),
                lease_left=None if finished or lease is None else lease - now,
                run_url=links.run(attempt, job_id=job_id, task_id=detail.task_id),
                trace_url=links.trace(
                    attempt["trace_id"],
                    attempt_id=attempt["attempt_id"],
                    task_id=detail.task_id,
                ),
            )
        )
        before = finished or now
    return found


def _ends(attempts: Sequence[Document]) -> list[datetime]:
    return [end for each in attempts if (end := moment(each["finished_at"])) is not None]


def moment(said: Any) -> datetime | None:
    """Return a time of a JSON document."""
    return datetime.fromisoformat(said) if said else None


def amount(said: Any) -> Decimal | None:
    """Return an amount of a JSON document."""
    return None if said is None else Decimal(str(said))
