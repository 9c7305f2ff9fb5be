"""The model calls in a trace: each counted once, where it was made.

A span may tell what all below it used together, so the lowest that tell usage count, and of one
above them what it tells beyond their sum. Of one that tells the same as the only call below it,
that call takes what it does not tell itself: model, cost, numbers. A call without usage is unknown,
unless a span above it counts. What the trace as a whole is said to have used is not read: versions
of MLflow disagree about it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
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
AMOUNTS = ("input_tokens", "output_tokens", "pages")
DETAILS = ("cached_tokens", "cost_usd", "list_usd")
TAKEN = ("model", *AMOUNTS, *DETAILS)  # by a call from the span around it
TOKENS = ("input_tokens", "output_tokens", "cached_tokens")

MOST_CHARACTERS = 500
MOST = 10**9  # dollars, or pages
MOST_PLACES = 40  # that report_usage takes after the point
MOST_MS = 10**12
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EXACT = Context(prec=200)

Call = dict[str, Any]
"""As `report_usage` takes it; what is unknown is not in it."""


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


def calls_of(trace_id: str, spans: Sequence[SpanSeen]) -> list[Call]:
    """Return the calls of a trace as `report_usage` takes them, in the order in which they began.

    A call's id is that of its trace and its span.
    """
    parents = _parents(spans)
    seen = {span.span_id: span for span in spans}
    below: defaultdict[str | None, _Counted] = defaultdict(_Counted)  # each span; None: in all
    for key in reversed(_top_down(parents)):
        span, found = seen[key], below.pop(key, _Counted())
        if span.is_call or span.tells_usage:
            found = _with(_call(trace_id, span), found)
        below[parents[key] if parents[key] in seen else None].take(found)
    calls = {call["call_id"]: call for call in (*below[None].told, *below[None].unknown)}
    ordered = sorted(seen.values(), key=lambda span: (span.started or 0, span.span_id))
    ids = (f"{trace_id}/{span.span_id}" for span in ordered)
    return [calls[key] for key in ids if key in calls]


def has_all(spans: Sequence[SpanSeen]) -> bool:
    """Tell whether of each span the one above it is there too."""
    known = {span.span_id for span in spans}
    return all(span.parent_id is None or span.parent_id in known for span in spans)


@dataclass(slots=True)
class _Counted:
    """Calls that count: those of which usage is told, with their sums, and the unknown ones."""

    told: list[Call] = field(default_factory=list)
    unknown: list[Call] = field(default_factory=list)
    sums: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    telling: Counter[str] = field(default_factory=Counter)  # how many tell each number

    def add(self, call: Call) -> None:
        """Count one of which usage is told."""
        self.told.append(call)
        for name in (*AMOUNTS, *DETAILS):
            if name in call:
                self.sums[name] = EXACT.add(self.sums[name], Decimal(call[name]))
                self.telling[name] += 1

    def take(self, other: _Counted) -> None:
        """Count what another counts, too."""
        if len(self.told) < len(other.told):
            self.told, other.told = other.told, self.told
        self.told += other.told
        self.unknown += other.unknown
        self.telling.update(other.telling)
        for name, amount in other.sums.items():
            self.sums[name] = EXACT.add(self.sums[name], amount)

    def is_told_by_all(self, name: str) -> bool:
        """Tell whether a number is known of each."""
        return self.telling[name] == len(self.told)


def _with(call: Call, below: _Counted) -> _Counted:
    """Return what counts of a span and of all below it: calls, and what it tells beyond them.

    One that tells of less than those below it by any number is not their sum, and tells nothing of
    them. One that is more than their sum counts for those below it that tell nothing; if others do
    not tell all of theirs, for all of them.
    """
    if not any(name in call for name in AMOUNTS):
        if not below.told and not below.unknown:
            below.unknown.append(call)
        return below
    alone = _Counted()
    if not below.told:
        alone.add(call)
        return alone
    beyond = {
        name: EXACT.subtract(Decimal(call.get(name, 0)), below.sums[name]) for name in AMOUNTS
    }
    if len(below.told) == 1 and not below.unknown:
        (inner,) = below.told
        if not any(beyond[name] for name in AMOUNTS if name in inner):
            alone.add({name: call[name] for name in TAKEN if name in call} | inner)
            return alone
    is_less = any(beyond[name] < 0 for name in _compared(call))
    if is_less or all(more <= 0 for more in beyond.values()):
        return below
    if not (below.is_told_by_all("input_tokens") and below.is_told_by_all("output_tokens")):
        alone.add(call)
        return alone
    below.unknown.clear()
    below.add(_rest(call, below))
    return below


def _compared(call: Call) -> tuple[str, ...]:
    """Return by which numbers a call may be the sum of others: not tokens, if by the page."""
    names = ("pages",) if call.get("pages") else AMOUNTS
    return tuple(name for name in names if name in call)


def _rest(call: Call, parts: _Counted) -> Call:
    """Return what a call tells beyond its parts; of a detail it takes all of these to tell it.

    A call that is paid by the page used no tokens, whatever its parts did.
    """
    rest = dict(call)
    for name in (*AMOUNTS, *DETAILS):
        if name not in call:
            continue
        used = EXACT.subtract(Decimal(call[name]), parts.sums[name])
        if name in DETAILS and (used < 0 or not parts.is_told_by_all(name)):
            del rest[name]
        else:
            used = max(used, Decimal(0))
            rest[name] = int(used) if name in TOKENS else _digits(used)
    if rest.get("cached_tokens", 0) > rest.get("input_tokens", 0):
        del rest["cached_tokens"]
    return rest


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


def _call(trace_id: str, span: SpanSeen) -> Call:
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
