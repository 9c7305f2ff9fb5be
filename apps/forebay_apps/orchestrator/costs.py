"""What cost most, as the lines of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar
from urllib.parse import quote

from forebay.rows import CostLine, MetricsReport
from forebay.visible import visible
from forebay_apps.orchestrator.filters import NO_CUSTOMER, Filters
from forebay_apps.web import formats

Amount = TypeVar("Amount", int, Decimal)

AND_MORE = "\N{NO-BREAK SPACE}+"
"""After a sum of which a part is not known."""

NOTHING = "\N{EN DASH}"
DIMENSIONS = ("agent", "customer", "model", "batch", "day", "try", "task")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the cost table, in words: of tokens input, output and cached."""

    row: CostLine
    name: str
    url: str | None
    tokens: list[str]
    llm: str
    llm_coverage: str
    compute: str
    compute_coverage: str

    @property
    def is_partial(self) -> bool:
        """Tell whether of some sum a part is not known."""
        return any(AND_MORE in said for said in (*self.tokens, self.llm, self.compute))


@dataclass(frozen=True, slots=True)
class Begun:
    """How many attempts have ended, and whether others are under way: what a sum can be of."""

    ended: int
    is_going_on: bool = False

    def known(self, total: Amount | None, of: int) -> Amount | None:
        """Return a sum of which so many attempts tell all; None where nothing is known of it.

        A sum that is not 0 is known in part, also where no attempt tells all of its own.
        """
        is_unknown = not total and not of and (self.ended or self.is_going_on)
        return None if is_unknown else total

    def tokens(self, row: MetricsReport | CostLine) -> tuple[int | None, int | None, int | None]:
        """Return input, output and cached tokens; None where nothing is known of any of them."""
        used = (row.input_tokens or 0) + (row.output_tokens or 0)
        if self.known(used, row.measured_attempts) is None:
            return None, None, None
        return row.input_tokens, row.output_tokens, row.cached_tokens


def line(by: str, row: CostLine, filters: Filters) -> Line:
    """Return a line; what has a page, or is a filter, has an address."""
    ended = row.ended_attempts
    begun = Begun(ended, is_going_on=True)  # a line does not say: it may be
    llm = begun.known(row.llm_usd, row.priced_attempts)
    compute = row.compute_usd if row.costed_attempts else None
    return Line(
        row=row,
        name=_name(by, row.key),
        url=_url(by, row.key, filters),
        tokens=[
            _sum(used, formats.number, row.measured_attempts, ended) for used in begun.tokens(row)
        ],
        llm=_sum(llm, formats.usd, row.priced_attempts, ended),
        llm_coverage=coverage(row.priced_attempts, ended, ""),
        compute=_sum(compute, formats.usd, row.costed_attempts, ended),
        compute_coverage=coverage(row.costed_attempts, ended, ""),
    )


def _sum(
    total: Amount | None, words: Callable[[Amount | None], str], known: int, ended: int
) -> str:
    """Return a sum of a list; + where some attempts do not tell all of theirs."""
    if total is None:
        return formats.UNKNOWN if ended else NOTHING
    return f"{words(total)}{AND_MORE if known < ended else ''}"


def _name(by: str, key: str | None) -> str:
    if by == "try" and key:
        return "first tries" if key == "first" else f"tries after one {key.removeprefix('after_')}"
    return visible(key, f"a {by} without a name") if key else f"no {by}"


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
    """Return of how many ended attempts something is known: `3 of 5 attempts <words>`."""
    if not ended:
        return "no attempt has ended" if words else formats.number(0)
    said = "all" if known == ended else f"{formats.number(known)} of"
    return f"{said} {formats.number(ended)}{f' attempts {words}' if words else ''}"


def at_least(total: Amount | None, known: int, ended: int, words: str) -> str:
    """Return the same beside a sum: where some attempts do not tell, it is at least so much."""
    is_more = total is not None and known < ended
    return f"{'at least; ' * is_more}{coverage(known, ended, words)}"
