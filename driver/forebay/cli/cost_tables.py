"""Costs as a person reads them; what is unknown is called so, and never zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from forebay.cli import output, words

if TYPE_CHECKING:
    from forebay.finance import Line
    from forebay.rows import CostLine, CostSource, CostSummary

UNKNOWN = "unknown"
NONE = "none"
"""The source of a 0 that nobody had to tell: nothing was called, or nothing ran."""
OF_SHARED = ("compute_usd", "total_usd", "provisional_usd")


def lines(dimension: str, sources: Sequence[CostSource]) -> output.Columns:
    """Return the columns of `cost by`; what calls cost by model is no part of any machine."""

    def told(row: CostLine) -> str:
        named = (_source(one) for one in sources if one.key == row.key and one.usd is not None)
        return ", ".join(dict.fromkeys(named))

    shown = {name: column for name, column in LINE.items() if dimension != "model" or name in CALLS}
    return {dimension: lambda row: row.key or "none", **shown, "sources": told}


def utc(name: str) -> Callable[[Any], str | None]:
    """Return a column of a time, in UTC as days and months are."""

    def told(row: object) -> str | None:
        moment: datetime | None = getattr(row, name)
        return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"

    return told


def _source(row: CostSource) -> str:
    """Return a source, and of a call whose price it is."""
    if row.source is None or row.part != "llm":
        return row.source or NONE
    return f"{row.source} {row.basis.replace('_', ' ')}"


def _usd(value: Decimal | None) -> str:
    return words.usd(value) or UNKNOWN


def _number(name: str) -> Callable[[Any], str]:
    return lambda row: words.number(getattr(row, name)) or UNKNOWN


def _amount(name: str) -> Callable[[Any], str]:
    return lambda row: _usd(getattr(row, name))


def _known(name: str) -> Callable[[Any], object]:
    """Return a column that says of how many ended attempts something is known."""
    return lambda row: words.of(getattr(row, name), row.ended_attempts)


def _sum(usd: str, attempts: str) -> Callable[[CostSummary], str]:
    """Return a column of an amount, with how many attempts tell all of theirs."""

    def told(row: CostSummary) -> str:
        known = words.of(getattr(row, attempts), row.ended_attempts)
        return f"{_usd(getattr(row, usd))} (known of {known} attempts)"

    return told


def _one(part: str) -> Callable[[CostSummary], str | None]:
    """Return a column that says what one task costs."""

    def told(row: CostSummary) -> str | None:
        tasks, median = getattr(row, f"{part}_tasks"), getattr(row, f"{part}_median")
        if not tasks:
            return None
        p95 = words.usd(getattr(row, f"{part}_p95"))
        return f"{words.usd(median)} (95 % at most {p95}; {words.of(tasks, row.tasks)} tasks)"

    return told


def _tries(count: str, llm: str, compute: str) -> Callable[[CostSummary], str]:
    def told(row: CostSummary) -> str:
        if not getattr(row, count):
            return "none"
        amounts = (
            f"LLM {_part(row, llm, row.priced_attempts)},"
            f" compute {_part(row, compute, row.costed_attempts)}"
        )
        return f"{words.number(getattr(row, count))}: {amounts}"

    return told


def _part(row: CostSummary, usd: str, known: int) -> str:
    """Return a part of a sum, which is at least so much where some attempts do not tell theirs."""
    amount = getattr(row, usd)
    is_more = amount is not None and known < row.ended_attempts
    return f"{'at least ' * is_more}{_usd(amount)}"


def _provisional(row: CostSummary) -> str:
    if row.is_final:
        return "nothing will change"
    if row.provisional_attempts:
        return f"{_usd(row.provisional_usd)} of compute"
    is_told = row.priced_attempts == row.costed_attempts == row.ended_attempts
    if is_told and not row.running_attempts:
        return "what traces tell"
    return "what runs, or is unknown"


def _cents(name: str) -> Callable[[Line], object]:
    """Return a column of an amount that is in whole cents."""
    return _told(name, lambda value: f"{value:.2f}")


def _told(name: str, said: Callable[[Any], str] = str) -> Callable[[Line], object]:
    """Return a column of a month's line; what is shared has but some of them."""

    def told(row: Line) -> str | None:
        value = getattr(row, name)
        if value is None:
            return UNKNOWN if row.line != "shared" or name in OF_SHARED else None
        return said(value)

    return told


def _month_sources(row: Line) -> str:
    named = (one.replace("_", " ") for one in (*row.llm_sources, *row.compute_sources))
    return ", ".join(dict.fromkeys(named))


def _source_usd(row: CostSource) -> str | None:
    return None if row.part == "trace" else _usd(row.usd)


LINE: output.Columns = {
    "tasks": "tasks",
    "LLM usd": _amount("llm_usd"),
    "known of": _known("priced_attempts"),
    "compute usd": _amount("compute_usd"),
    "compute known of": _known("costed_attempts"),
    "provisional attempts": "provisional_attempts",
    "input tokens": _number("input_tokens"),
    "output tokens": _number("output_tokens"),
    "cached tokens": _number("cached_tokens"),
}
CALLS = ("tasks", "LLM usd", "known of", "input tokens", "output tokens", "cached tokens")
SUMMARY: output.Columns = {
    "tasks": "tasks",
    "LLM usd": _sum("llm_usd", "priced_attempts"),
    "compute usd": _sum("compute_usd", "costed_attempts"),
    "provisional": _provisional,
    "a task, median": _one("whole"),
    "LLM of a task": _one("llm"),
    "compute of a task": _one("compute"),
    "first tries": _tries("first_tries", "first_llm_usd", "first_compute_usd"),
    "retries": _tries("retries", "retry_llm_usd", "retry_compute_usd"),
    "input tokens": _number("input_tokens"),
    "output tokens": _number("output_tokens"),
    "cached tokens": _number("cached_tokens"),
    "pages": _number("pages"),
}
SOURCE: output.Columns = {
    "part": "part",
    "source": lambda row: row.source or NONE,
    "basis": lambda row: row.basis.replace("_", " "),
    "attempts": "attempts",
    "usd": _source_usd,
}
MONTH: output.Columns = {
    "line": "line",
    "customer": lambda row: row.customer or ("none" if row.line == "customer" else None),
    "agent": "agent",
    "tasks": "tasks",
    "input tokens": _told("input_tokens"),
    "output tokens": _told("output_tokens"),
    "pages": _told("pages", lambda value: f"{value:f}"),
    "LLM usd": _cents("llm_usd"),
    "compute usd": _cents("compute_usd"),
    "total usd": _cents("total_usd"),
    "provisional usd": _cents("provisional_usd"),
    "retries usd": _cents("retries_usd"),
    "LLM unknown": "attempts_without_llm_cost",
    "compute unknown": "attempts_without_compute_cost",
    "sources": _month_sources,
}
SHARED: output.Columns = {
    "product": "product",
    "usd": _amount("usd"),
    "source": "source",
    "final": lambda row: "yes" if row.is_final else "no",
    "from (UTC)": utc("from_at"),
    "to (UTC)": utc("to_at"),
    "read (UTC)": utc("as_of"),
}
