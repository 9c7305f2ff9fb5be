"""The filters of the dashboard: they live in the URL, and every figure of a page obeys them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from forebay.rows import TaskStatus
from forebay_apps.orchestrator.fields import (
    Fields,
    every,
    first,
    optional_share,
    optional_time,
    optional_whole,
)
from forebay_apps.web.errors import Refusal

Pair = tuple[str, str]

STATUSES: tuple[str, ...] = get_args(TaskStatus)
RANGES = {
    "1h": ("last hour", timedelta(hours=1)),
    "6h": ("last 6 hours", timedelta(hours=6)),
    "24h": ("last 24 hours", timedelta(hours=24)),
    "7d": ("last 7 days", timedelta(days=7)),
    "30d": ("last 30 days", timedelta(days=30)),
}
ALL = "all"
NO_CUSTOMER = ""
"""In a list of customers: tasks that are of none."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What the URL says; range is a key of RANGES or ALL, and counts where no times are given.

    Times are of the creation of tasks, half-open. batch_id, search and max_confidence are those of
    lists of tasks alone. Of customers NO_CUSTOMER stands for tasks of none.
    """

    range: str = ALL
    from_: datetime | None = None
    to: datetime | None = None
    statuses: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    customers: tuple[str, ...] = ()
    batch_id: int | None = None
    search: str = ""
    max_confidence: Decimal | None = None

    @classmethod
    def read(cls, fields: Fields, default_range: str = ALL) -> Filters:
        """Read the filters of a query or a form; raise Refusal for what makes no sense."""
        said = first(fields, "range") or default_range
        if said not in RANGES and said != ALL:
            raise Refusal(400, f"There is no range {said!r}: it is {', '.join(RANGES)} or {ALL}.")
        statuses = every(fields, "status")
        if unknown := set(statuses) - set(STATUSES):
            raise Refusal(400, f"There is no state {min(unknown)!r}.")
        no_customer = (NO_CUSTOMER,) if first(fields, "no_customer") else ()
        return cls(
            range=said,
            from_=optional_time(fields, "from"),
            to=optional_time(fields, "to"),
            statuses=statuses,
            agents=every(fields, "agent"),
            customers=(*every(fields, "customer"), *no_customer),
            batch_id=optional_whole(fields, "batch"),
            search=first(fields, "q"),
            max_confidence=optional_share(fields, "confidence"),
        )

    @property
    def has_times(self) -> bool:
        """Tell whether the range is given by its ends."""
        return self.from_ is not None or self.to is not None

    @property
    def is_open(self) -> bool:
        """Tell whether everything matches."""
        return self == Filters()

    def fixed(self) -> Filters:
        """Return the same with the times that the range means at this moment."""
        if self.has_times or self.range == ALL:
            return replace(self, range=ALL)
        return replace(self, range=ALL, from_=datetime.now(UTC) - RANGES[self.range][1])

    def figures(self) -> dict[str, Any]:
        """Return the five arguments that every figure takes."""
        fixed = self.fixed()
        return {
            "from_": fixed.from_,
            "to": fixed.to,
            "statuses": list(self.statuses) or None,
            "agents": list(self.agents) or None,
            "customers": list(self.customers) or None,
        }

    def tasks(self) -> dict[str, Any]:
        """Return the arguments of what lists, counts or changes tasks."""
        return self.figures() | {
            "batch_id": self.batch_id,
            "search": self.search or None,
            "max_confidence": self.max_confidence,
        }

    def pairs(self) -> list[Pair]:
        """Return what the URL says of these filters."""
        pairs = [("range", self.range)]
        pairs += [
            (name, utc(moment, "microseconds"))
            for name, moment in (("from", self.from_), ("to", self.to))
            if moment is not None
        ]
        for name, values in (
            ("status", self.statuses),
            ("agent", self.agents),
            ("customer", self.customers),
        ):
            pairs += [(name, value) for value in values if value]
        if NO_CUSTOMER in self.customers:
            pairs.append(("no_customer", "1"))
        for name, value in (
            ("batch", self.batch_id),
            ("q", self.search),
            ("confidence", self.max_confidence),
        ):
            if value not in (None, ""):
                pairs.append((name, str(value)))
        return pairs

    def query(self, *more: Pair, **changes: Any) -> str:
        """Return the query string, with changes and with more of it."""
        return urlencode([*replace(self, **changes).pairs(), *more])


def utc(
    moment: datetime, precision: Literal["minutes", "microseconds"], separator: str = "T"
) -> str:
    """Return a time in UTC without its zone, as an input of a form has it."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(separator, precision)
