"""The filters of the dashboard: they live in the URL, and every figure of a page obeys them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol, get_args
from urllib.parse import urlencode

from forebay.rows import TaskStatus
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
MAX_ID = 2**63 - 1


class Fields(Protocol):
    """A query string or a form that was sent."""

    def getlist(self, key: str) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Filters:
    """What the URL says; range is a key of RANGES or ALL, and counts where no times are given.

    Times are of the creation of tasks, half-open. batch_id, search and max_confidence are those of
    lists of tasks alone.
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
        said = _first(fields, "range") or default_range
        if said not in RANGES and said != ALL:
            raise Refusal(400, f"There is no range {said!r}: it is {', '.join(RANGES)} or {ALL}.")
        statuses = _all(fields, "status")
        if unknown := set(statuses) - set(STATUSES):
            raise Refusal(400, f"There is no state {min(unknown)!r}.")
        return cls(
            range=said,
            from_=_time(fields, "from"),
            to=_time(fields, "to"),
            statuses=statuses,
            agents=_all(fields, "agent"),
            customers=_all(fields, "customer"),
            batch_id=whole_number(fields, "batch"),
            search=_first(fields, "q"),
            max_confidence=_share(fields, "confidence"),
        )

    @property
    def has_times(self) -> bool:
        """Tell whether the range is given by its ends."""
        return self.from_ is not None or self.to is not None

    @property
    def is_open(self) -> bool:
        """Tell whether everything matches."""
        return replace(self, range=ALL) == Filters() and (self.range == ALL or self.has_times)

    @property
    def more(self) -> list[str]:
        """Return in short what is set of the filters that a form keeps folded."""
        said = list(self.customers)
        if self.has_times:
            said.append("times")
        if self.batch_id is not None:
            said.append(f"batch {self.batch_id}")
        if self.max_confidence is not None:
            said.append(f"confidence ≤ {self.max_confidence}")
        return said

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
            (name, f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}")
            for name, moment in (("from", self.from_), ("to", self.to))
            if moment is not None
        ]
        for name, values in (
            ("status", self.statuses),
            ("agent", self.agents),
            ("customer", self.customers),
        ):
            pairs += [(name, value) for value in values]
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

    def words(self) -> list[str]:
        """Return what these filters let through, in words."""
        words = []
        if self.has_times:
            if self.from_:
                words.append(f"created from {self.from_.astimezone(UTC):%Y-%m-%d %H:%M} UTC")
            if self.to:
                words.append(f"created before {self.to.astimezone(UTC):%Y-%m-%d %H:%M} UTC")
        elif self.range != ALL:
            words.append(f"created in the {RANGES[self.range][0]}")
        for name, values in (
            ("state", self.statuses),
            ("agent", self.agents),
            ("customer", self.customers),
        ):
            if values:
                words.append(f"{name} {' or '.join(values)}")
        if self.batch_id is not None:
            words.append(f"batch {self.batch_id}")
        if self.search:
            words.append(f"search “{self.search}”")
        if self.max_confidence is not None:
            words.append(f"confidence at most {self.max_confidence}")
        return words


def whole_number(fields: Fields, name: str) -> int | None:
    """Return a whole number that can be an id; None when it is not given."""
    said = _first(fields, name)
    if not said:
        return None
    if not (said.isascii() and said.isdigit() and len(said) < 20 and int(said) <= MAX_ID):
        raise Refusal(400, f"The {name} is no id: {said[:40]!r}.")
    return int(said)


def _first(fields: Fields, name: str) -> str:
    return next(iter(_all(fields, name)), "")


def _all(fields: Fields, name: str) -> tuple[str, ...]:
    """Return what was said under a name, once each, in the order in which it was said."""
    said = (value.strip() for value in fields.getlist(name) if isinstance(value, str))
    return tuple(dict.fromkeys(value for value in said if value))


def _time(fields: Fields, name: str) -> datetime | None:
    said = _first(fields, name)
    if not said:
        return None
    try:
        moment = datetime.fromisoformat(said)
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refusal(400, f"{name.capitalize()} is no time: {said[:40]!r}.") from None


def _share(fields: Fields, name: str) -> Decimal | None:
    said = _first(fields, name)
    if not said:
        return None
    try:
        if 0 <= (share := Decimal(said)) <= 1:
            return share
    except InvalidOperation:
        pass
    raise Refusal(400, f"The {name} is a number from 0 to 1, not {said[:40]!r}.")


def shown(filters: Filters, agents: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a template needs to show the filters as a form."""
    names = dict.fromkeys([*agents, *filters.agents])
    return {
        "filters": filters,
        "ranges": RANGES,
        "statuses": [(status, status in filters.statuses) for status in STATUSES],
        "agents": [(name, name in filters.agents) for name in names],
        "inputs": _input,
    }


def _input(moment: datetime | None) -> str:
    """Return a time as an input of a form takes it, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M}" if moment else ""
