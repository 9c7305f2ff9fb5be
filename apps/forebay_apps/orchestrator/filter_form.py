"""The filters as people read and set them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from forebay.visible import visible
from forebay_apps.orchestrator.filters import ALL, RANGES, STATUSES, Filters, utc


def shown(filters: Filters, agents: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a template needs to show the filters as a form."""
    names = dict.fromkeys([*agents, *filters.agents])
    return {
        "filters": filters,
        "ranges": RANGES,
        "statuses": [(status, status in filters.statuses) for status in STATUSES],
        "agents": [(name, name in filters.agents) for name in names],
        "folded": folded(filters),
        "inputs": _input,
    }


def words(filters: Filters) -> list[str]:
    """Return what the filters let through, in words."""
    said = _times(filters)
    customers = tuple(_customers(filters, "none"))
    for name, values in (
        ("state", filters.statuses),
        ("agent", filters.agents),
        ("customer", customers),
    ):
        if values:
            said.append(f"{name} {' or '.join(values)}")
    if filters.batch_id is not None:
        said.append(f"batch {filters.batch_id}")
    if filters.search:
        said.append(f"search “{filters.search}”")
    if filters.max_confidence is not None:
        said.append(f"confidence at most {filters.max_confidence}")
    return said


def _times(filters: Filters) -> list[str]:
    if not filters.has_times:
        return [] if filters.range == ALL else [f"created in the {RANGES[filters.range][0]}"]
    ends = (("from", filters.from_), ("before", filters.to))
    return [f"created {word} {utc(end, 'minutes', ' ')} UTC" for word, end in ends if end]


def folded(filters: Filters) -> list[str]:
    """Return in short what is set of the filters that a form keeps folded."""
    said = _customers(filters, "no customer")
    if filters.has_times:
        said.append("times")
    if filters.batch_id is not None:
        said.append(f"batch {filters.batch_id}")
    if filters.max_confidence is not None:
        said.append(f"confidence ≤ {filters.max_confidence}")
    return said


def _customers(filters: Filters, none: str) -> list[str]:
    """Return the customers as they are shown, with this in place of having none."""
    return [visible(name, "one without a name") if name else none for name in filters.customers]


def _input(moment: datetime | None) -> str:
    """Return a time as an input of a form takes it, in UTC."""
    return utc(moment, "minutes") if moment else ""
