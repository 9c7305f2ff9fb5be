"""The model calls in a trace: each counted once, where it was made.

A span may tell what all below it used together, so one that tells of no more than those below it
does not count; one that tells of more counts for all of them. Of one that tells of as much as the
only call below it, that call takes the model and the cost that it does not tell itself. A call
without usage is unknown, unless a span above it counts. What the trace as a whole is said to have
used is not read: versions of MLflow disagree about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from forebay.tokens import Tokens, tokens_of

CALLS = ("CHAT_MODEL", "LLM", "EMBEDDING")  # types of spans that are calls of a model
USAGE = "mlflow.chat.tokenUsage"
COST = "mlflow.llm.cost"
MODEL = "mlflow.llm.model"
PROVIDER = "mlflow.llm.provider"
FORMAT = "mlflow.message.format"
OWN_COST = "forebay.cost_usd"
OWN_CALL = "forebay.call_id"  # on each call that our own agents record, named for its model
PAGES = "forebay.pages"
TAKEN = ("model", "cost_usd", "list_usd")  # by a call from the span that frames it

MOST_CHARACTERS = 500
MOST = 10**9  # dollars, or pages
MOST_PLACES = 40  # that report_usage takes after the point
MOST_MS = 10**12
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Amounts = tuple[Decimal, ...]
"""Tokens in, tokens out, and pages; what is unknown is 0."""


@dataclass(frozen=True, slots=True)
class SpanSeen:
    """A span as it is stored: times are nanoseconds since 1970, `ended` None while it goes on."""

    span_id: str
    parent_id: str | None
    kind: str
    attributes: Mapping[str, Any]
    name: str = ""
    started: int | None = None
    ended: int | None = None

    @property
    def is_call(self) -> bool:
        """Whether something is paid for it, known or not."""
        return self.kind in CALLS or OWN_CALL in self.attributes

    @property
    def tells_usage(self) -> bool:
        """Whether it says what it used, by at least one number."""
        return self.pages is not None or self.tokens != Tokens()

    @property
    def tokens(self) -> Tokens:
        """What it says that it used."""
        provider = self.attributes.get(PROVIDER) or self.attributes.get(FORMAT)
        return tokens_of(self.attributes.get(USAGE), provider)

    @property
    def pages(self) -> Decimal | None:
        """How many pages it read, where it is paid by these."""
        return _amount(self.attributes.get(PAGES))

    @property
    def amounts(self) -> Amounts:
        """What it says that it used, to be compared and added up."""
        tokens = self.tokens
        return Decimal(tokens.input or 0), Decimal(tokens.output or 0), self.pages or Decimal(0)


def calls_of(trace_id: str, spans: Sequence[SpanSeen]) -> list[dict[str, Any]]:
    """Return the calls of a trace as `report_usage` takes them, in the order in which they began.

    A call's id is that of its trace and its span.
    """
    parents = _parents(spans)
    paid = {span.span_id: span for span in spans if span.is_call or span.tells_usage}
    top_down = _top_down(parents)
    telling, above_paid = _telling(paid, parents, top_down)
    parts: set[str] = set()  # spans below one that tells of more, and counts for them
    for key in top_down:
        if parents[key] in parts or parents[key] in telling:
            parts.add(key)
    counted = [
        span
        for key, span in paid.items()
        if key not in parts and (key in telling or not (span.tells_usage or key in above_paid))
    ]
    counted.sort(key=lambda span: (span.started or 0, span.span_id))
    calls = {span.span_id: _call(trace_id, span) for span in counted}
    for outer, key in _frames(paid, calls, parents, top_down):
        of_outer = _call(trace_id, outer)
        calls[key] = {name: of_outer[name] for name in TAKEN if name in of_outer} | calls[key]
    return list(calls.values())


def has_all(spans: Sequence[SpanSeen]) -> bool:
    """Tell whether of each span the one above it is there too."""
    known = {span.span_id for span in spans}
    return all(span.parent_id is None or span.parent_id in known for span in spans)


def _frames(
    paid: Mapping[str, SpanSeen],
    counted: Iterable[str],
    parents: Mapping[str, str | None],
    top_down: Sequence[str],
) -> Iterator[tuple[SpanSeen, str]]:
    """Yield the spans that tell of as much as the only counted one below, with it; inner first."""
    only: dict[str, str | None] = {key: key for key in counted}  # None: there are several
    for key in reversed(top_down):
        if key not in only:
            continue
        one, span, parent = only[key], paid.get(key), parents[key]
        if one and one != key and span and span.tells_usage and span.amounts == paid[one].amounts:
            yield span, one
        if parent is not None:
            only[parent] = None if parent in only else one


def _telling(
    paid: Mapping[str, SpanSeen], parents: Mapping[str, str | None], top_down: Sequence[str]
) -> tuple[set[str], set[str]]:
    """Return the spans that tell of more than all below them do, and those with a paid one below.

    One that tells of as much as those below it is their sum; where it tells of more, something
    below it did not tell.
    """
    telling, above_paid = set[str](), set[str]()
    below: dict[str, Amounts] = {}  # what is told in all below each span, where anything is
    for key in reversed(top_down):
        span, parent = paid.get(key), parents[key]
        if span and span.tells_usage and _is_beyond(span.amounts, below.get(key)):
            telling.add(key)
            below[key] = span.amounts
        if parent is None:
            continue
        if span or key in above_paid:
            above_paid.add(parent)
        if key in below:
            pairs = zip_longest(below[key], below.get(parent, ()), fillvalue=Decimal(0))
            below[parent] = tuple(one + other for one, other in pairs)
    return telling, above_paid


def _is_beyond(amounts: Amounts, told: Amounts | None) -> bool:
    return told is None or any(one > other for one, other in zip(amounts, told, strict=True))


def _top_down(parents: Mapping[str, str | None]) -> list[str]:
    """Return all spans, each after the one above it."""
    below: dict[str, list[str]] = {}
    ordered: list[str] = []
    for key, parent in parents.items():
        if parent in parents:
            below.setdefault(str(parent), []).append(key)
        else:
            ordered.append(key)
    for key in ordered:  # which grows meanwhile
        ordered += below.get(key, ())
    return ordered


def _parents(spans: Iterable[SpanSeen]) -> dict[str, str | None]:
    """Return what is above each span: the root, where that is missing; a circle is cut."""
    parents = {span.span_id: span.parent_id for span in spans}
    roots = [key for key, parent in parents.items() if parent is None]
    if len(roots) == 1:
        known = {*parents, None}
        parents |= {key: roots[0] for key, above in parents.items() if above not in known}
    done: set[str] = set()
    for start in parents:
        walked: set[str] = set()
        key: str | None = start
        while key in parents and key not in done:
            walked.add(key)
            if parents[key] in walked:
                parents[key] = None
            key = parents[key]
        done |= walked
    return parents


def _call(trace_id: str, span: SpanSeen) -> dict[str, Any]:
    """Return a call for `report_usage`; what is unknown is left out."""
    tokens, pages = span.tokens, span.pages
    if pages is not None and tokens == Tokens():
        tokens = Tokens(0, 0)  # paid by the page, as the agent reports it
    said = {
        "call_id": f"{trace_id}/{span.span_id}",
        "trace_id": trace_id,
        "model": _model(span),
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cached_tokens": tokens.cached,
        "pages": _digits(pages),
        "cost_usd": _digits(_amount(span.attributes.get(OWN_COST))),
        "list_usd": _list_usd(span),
        "started_at": _moment(span.started),
        "latency_ms": _latency(span),
    }
    return {name: value for name, value in said.items() if value is not None}


def _model(span: SpanSeen) -> str | None:
    named = span.name if OWN_CALL in span.attributes else None
    for said in (span.attributes.get(MODEL), named):
        if isinstance(said, str) and 0 < len(said) <= MOST_CHARACTERS and said.isprintable():
            return said
    return None


def _list_usd(span: SpanSeen) -> str | None:
    """Return what MLflow makes of it by its list prices; not of a call whose usage is unknown."""
    cost = span.attributes.get(COST)
    if not isinstance(cost, Mapping) or not span.tells_usage:
        return None
    return _digits(_amount(cost.get("total_cost")))


def _amount(value: object) -> Decimal | None:
    """Return an amount as it was told: a number, or its digits as text; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except (ValueError, ArithmeticError):
        return None
    is_one = amount.is_finite() and 0 <= amount <= MOST
    return amount if is_one and int(amount.as_tuple().exponent) >= -MOST_PLACES else None


def _digits(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def _moment(nanoseconds: int | None) -> str | None:
    if not isinstance(nanoseconds, int) or nanoseconds <= 0:
        return None
    try:
        return (EPOCH + timedelta(microseconds=nanoseconds // 1000)).isoformat()
    except OverflowError:
        return None


def _latency(span: SpanSeen) -> int | None:
    if span.started is None or span.ended is None:
        return None
    taken = (span.ended - span.started) // 1_000_000
    return taken if 0 <= taken <= MOST_MS else None
