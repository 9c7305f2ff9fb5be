"""The model calls in a trace: each counted once, where it was made.

A span may tell what all below it used together, so a span counts only if nothing below it tells
of usage. A call without usage is unknown, unless a span above it counts. What the trace as a whole
is said to have used is not read: versions of MLflow disagree about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from forebay.traces.tokens import Tokens, tokens_of

CALLS = ("CHAT_MODEL", "LLM", "EMBEDDING")  # types of spans that are calls of a model
USAGE = "mlflow.chat.tokenUsage"
COST = "mlflow.llm.cost"
MODEL = "mlflow.llm.model"
PROVIDER = "mlflow.llm.provider"
FORMAT = "mlflow.message.format"
OWN_COST = "forebay.cost_usd"
OWN_CALL = "forebay.call_id"  # on each call that our own agents record, named for its model
PAGES = "forebay.pages"

MOST_CHARACTERS = 500
MOST_USD = 10**9
MOST_PAGES = 10**9
MOST_MS = 10**12
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
    def pages(self) -> float | None:
        """How many pages it read, where it is paid by these."""
        return _number(self.attributes.get(PAGES), MOST_PAGES)


@dataclass(frozen=True, slots=True)
class CallsFound:
    """Calls as `report_usage` takes them, and the ids of spans that only sum up others."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    rollups: list[str] = field(default_factory=list)


def calls_of(trace_id: str, spans: Sequence[SpanSeen]) -> CallsFound:
    """Return the calls of a trace, in the order in which they began; a call's id is its span's."""
    paid = {span.span_id: span for span in spans if span.is_call or span.tells_usage}
    telling = {key for key, span in paid.items() if span.tells_usage}
    parents = _parents(spans)
    above_paid, above_telling = _above(paid, parents), _above(telling, parents)
    counted = telling - above_telling
    found = CallsFound(rollups=sorted(telling & above_telling))
    for key in sorted(paid, key=lambda key: (paid[key].started or 0, key)):
        if key not in telling:
            is_part = key in above_paid or any(one in counted for one in _ancestors(key, parents))
            if is_part:
                continue
        elif key not in counted:
            continue
        found.calls.append(_call(trace_id, paid[key]))
    return found


def _above(keys: Iterable[str], parents: Mapping[str, str | None]) -> set[str]:
    """Return all spans that one of these is below."""
    above: set[str] = set()
    for key in keys:
        for one in _ancestors(key, parents):
            if one in above:
                break
            above.add(one)
    return above


def _ancestors(key: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the spans above this one, the nearest first."""
    while parent := parents.get(key):
        yield parent
        key = parent


def _parents(spans: Iterable[SpanSeen]) -> dict[str, str | None]:
    """Return what is above each span; where that goes in a circle, the circle is cut."""
    parents = {span.span_id: span.parent_id for span in spans}
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
        "call_id": span.span_id,
        "trace_id": trace_id,
        "model": _model(span),
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cached_tokens": tokens.cached,
        "pages": pages,
        "cost_usd": _usd(span.attributes.get(OWN_COST)),
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
    return _usd(cost.get("total_cost"))


def _usd(value: object) -> str | None:
    """Return an amount of dollars in plain digits, to 12 places; None for what is none."""
    amount = _number(value, MOST_USD)
    return None if amount is None else f"{Decimal(str(amount)):.12f}"


def _number(value: object, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) and 0 <= value <= most else None


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
