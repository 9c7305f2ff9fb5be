"""What cost most, as the lines of a table."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import quote

from forebay.rows import CostLine
from forebay_apps.orchestrator.filters import NO_CUSTOMER, Filters
from forebay_apps.web import formats

DIMENSIONS = ("agent", "customer", "model", "batch", "day", "task")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the cost table; an amount is None where nothing is known of it."""

    row: CostLine
    name: str
    url: str | None
    llm_usd: Decimal | None
    compute_usd: Decimal | None
    coverage: str


def line(by: str, row: CostLine, filters: Filters) -> Line:
    """Return a line; what has a page, or is a filter, has an address."""
    is_known = row.priced_attempts or not row.ended_attempts
    return Line(
        row=row,
        name=row.key or f"no {by}",
        url=_url(by, row.key, filters),
        llm_usd=row.llm_usd if is_known else None,
        compute_usd=row.compute_usd if row.costed_attempts else None,
        coverage=coverage(row.priced_attempts, row.ended_attempts, ""),
    )


def _url(by: str, key: str | None, filters: Filters) -> str | None:
    if by == "customer":
        return f"/?{filters.query(customers=(key or NO_CUSTOMER,))}"
    if not key:
        return None
    match by:
        case "task":
            return f"/tasks/{quote(key)}"
        case "batch":
            return f"/batches/{quote(key)}"
        case "agent":
            return f"/?{filters.query(agents=(key,))}"
    return None


def coverage(known: int, ended: int, words: str) -> str:
    """Return of how many ended attempts something is known."""
    if not ended:
        return "no attempt has ended" if words else formats.number(0)
    said = "all" if known == ended else f"{formats.number(known)} of"
    return f"{said} {formats.number(ended)}{f' attempts {words}' if words else ''}"
