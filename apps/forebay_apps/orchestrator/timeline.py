"""The attempts of a task as bars along its life."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any

from forebay.rows import Document, TaskDetail
from forebay_apps.orchestrator.links import Links

LEAST_WIDTH = 6.0


@dataclass(frozen=True, slots=True)
class Span:
    """One attempt: where its bar lies on the task's life, in thousandths, and what it is about.

    cost_usd is None while it is not known; lease_left is None for an attempt that has ended. Of two
    sources of usage the attempt's usage_source is the one that counts: `counted` are its calls.
    """

    attempt: Document
    usage: list[Document]
    counted: list[Document]
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

    @property
    def llm_sources(self) -> list[str]:
        """Who told of the calls that have a cost, and whose prices these are."""
        return list(dict.fromkeys(filter(None, map(priced_by, self.counted))))

    @property
    def compute_sources(self) -> list[str]:
        """Who told what its machine cost, if anybody had to, and whether that may change."""
        source = self.attempt["compute_source"]
        if self.compute_usd is None or not source:
            return []
        return [source] if self.attempt["is_compute_final"] else [source, "provisional"]


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
                counted=counted if has_two_sources else usage,
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


def priced_by(call: Document) -> str | None:
    """Return who told of a call and whose price it has, as `forebay cost` does; None without one.

    Reported: the cost was told with the call; price: the registered one; list price: MLflow's.
    """
    if call["usd"] is None:
        return None
    basis = "list price" if call["is_list_price"] else "price"
    return f"{call['source']} {'reported' if call['cost_usd'] is not None else basis}"


def named(sources: Iterable[Iterable[str]]) -> str:
    """Return each source of several attempts once."""
    return ", ".join(dict.fromkeys(chain.from_iterable(sources)))


def pages(found: Sequence[Span]) -> Decimal | None:
    """Return how many pages the calls that count were of; None where none was of pages."""
    told = [amount(call["pages"]) for span in found for call in span.counted]
    known = [one for one in told if one is not None]
    return sum(known, Decimal(0)) if known else None


def _ends(attempts: Sequence[Document]) -> list[datetime]:
    return [end for each in attempts if (end := moment(each["finished_at"])) is not None]


def moment(said: Any) -> datetime | None:
    """Return a time of a JSON document."""
    return datetime.fromisoformat(said) if said else None


def amount(said: Any) -> Decimal | None:
    """Return an amount of a JSON document."""
    return None if said is None else Decimal(str(said))
