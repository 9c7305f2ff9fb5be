"""A month's costs by customer, to the cent: what finance puts on bills.

Amounts are known to many digits. Rounding each would make sums that do not add up, so a customer's
column is rounded as a whole: its sum to the cent, and each amount to one of its two neighbouring
cents, those with the largest remainders upwards. The order of equal remainders is that of the
lines. Columns are rounded apart: where it must be, a line's total_usd is a cent or two off LLM and
compute together. Customers are rounded apart too, so that one's lines are the same among all and
alone; the total is that of the rounded lines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    localcontext,
)
from itertools import chain
from typing import Any

from forebay.csv_cells import BOM, cell
from forebay.rows import CustomerCost, SharedCost

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Sums keep each digit, however large an amount is."""

Amount = Decimal | None
"""None: nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a month's costs, amounts in whole cents; None: nothing is known of it.

    `line` is customer, total (of the customers) or shared; a shared line's `agent` is the product.
    Of `compute_usd`, `provisional_usd` may still change; of `total_usd`, retries cost
    `retries_usd`. `attempts` are those that have ended; of so many of them something is not known,
    or may change. `month_of` is what lies in the month: the creation of tasks, or the use of what
    is shared. Sources are those of the amounts; what machines cost was read at `compute_as_of`.
    """

    month: str
    line: str
    customer: str | None
    agent: str | None
    tasks: int | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    pages: Decimal | None
    llm_usd: Amount
    compute_usd: Amount
    total_usd: Amount
    provisional_usd: Amount
    retries_usd: Amount
    attempts: int | None
    attempts_without_tokens: int | None
    attempts_without_llm_cost: int | None
    attempts_without_compute_cost: int | None
    provisional_attempts: int | None
    running_attempts: int | None
    month_of: str
    llm_sources: tuple[str, ...]
    compute_sources: tuple[str, ...]
    compute_as_of: datetime | None


NAMES = [field.name for field in fields(Line)]
SUMMED = NAMES[NAMES.index("tasks") : NAMES.index("month_of")]
"""What the total is the sum of."""


def month_bounds(year: int, month: int) -> tuple[datetime, datetime]:
    """Return when a month begins and ends, in UTC."""
    follows = (year + 1, 1) if month == 12 else (year, month + 1)
    return datetime(year, month, 1, tzinfo=UTC), datetime(*follows, 1, tzinfo=UTC)


def month_lines(
    month: str, costs: Sequence[CustomerCost], shared: Sequence[SharedCost]
) -> list[Line]:
    """Return the customers' lines, their total, and what is shared, which is in no total."""
    with localcontext(EXACT):
        of_customers = [line for one in _by_customer(costs) for line in _customer_lines(month, one)]
        amounts = to_cents([one.usd for one in shared])
        return [
            *of_customers,
            _total(month, of_customers),
            *(_shared_line(month, one, usd) for one, usd in zip(shared, amounts, strict=True)),
        ]


def to_cents(amounts: Sequence[Amount], parts: Sequence[Amount] | None = None) -> list[Amount]:
    """Round amounts to cents that add up to their sum, rounded; each is off by less than a cent.

    `parts` are parts of them, in cents: where it can be, an amount is not rounded below its part.
    """
    known = [n for n, amount in enumerate(amounts) if amount is not None]
    exact = {n: amounts[n] or ZERO for n in known}
    floors = {n: amount.quantize(CENT, ROUND_FLOOR) for n, amount in exact.items()}
    total = sum(exact.values(), ZERO).quantize(CENT, ROUND_HALF_UP)
    missing = int((total - sum(floors.values(), ZERO)).scaleb(2))

    def goes_up(n: int) -> tuple[bool, Decimal]:
        part = parts[n] if parts else None
        covers = part is not None and floors[n] < part and floors[n] < exact[n]
        return not covers, floors[n] - exact[n]

    for n in sorted(known, key=goes_up)[:missing]:
        floors[n] += CENT
    return [floors.get(n) for n in range(len(amounts))]


def as_csv(lines: Iterable[Line]) -> Iterator[str]:
    """Yield a CSV file, line by line, that a spreadsheet opens as text and numbers."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    text.write(BOM)
    for row in chain([NAMES], ([getattr(line, name) for name in NAMES] for line in lines)):
        writer.writerow([cell(value) for value in row])
        yield text.getvalue()
        text.seek(0)
        text.truncate()


def _by_customer(costs: Sequence[CustomerCost]) -> list[list[CustomerCost]]:
    """Return the costs of each customer, in the order that they first come in."""
    found: dict[str | None, list[CustomerCost]] = {}
    for cost in costs:
        found.setdefault(cost.customer, []).append(cost)
    return list(found.values())


def _customer_lines(month: str, costs: Sequence[CustomerCost]) -> list[Line]:
    provisional = to_cents([_provisional(one) for one in costs])
    retries = to_cents([_retries(one) for one in costs])
    llm = to_cents([_known(one, *_llm(one)) for one in costs])
    compute = to_cents([_known(one, *_compute(one)) for one in costs], provisional)
    parts = [
        max((a or ZERO) + (b or ZERO), c or ZERO)
        for a, b, c in zip(llm, compute, retries, strict=True)
    ]
    total = to_cents([_known(one, *_llm(one), *_compute(one)) for one in costs], parts)
    rounded = zip(llm, compute, total, provisional, retries, strict=True)
    return [_customer_line(month, *each) for each in zip(costs, rounded, strict=True)]


def _customer_line(month: str, cost: CustomerCost, amounts: tuple[Amount, ...]) -> Line:
    llm, compute, total, provisional, retries = amounts
    return Line(
        month=month,
        line="customer",
        customer=cost.customer,
        agent=cost.agent,
        tasks=cost.tasks,
        input_tokens=cost.input_tokens,
        output_tokens=cost.output_tokens,
        cached_tokens=cost.cached_tokens,
        pages=cost.pages,
        llm_usd=llm,
        compute_usd=compute,
        total_usd=total,
        provisional_usd=provisional,
        retries_usd=retries,
        attempts=cost.ended_attempts,
        attempts_without_tokens=cost.ended_attempts - cost.measured_attempts,
        attempts_without_llm_cost=cost.ended_attempts - cost.priced_attempts,
        attempts_without_compute_cost=cost.ended_attempts - cost.costed_attempts,
        provisional_attempts=cost.provisional_attempts,
        running_attempts=cost.running_attempts,
        month_of="creation",
        llm_sources=tuple(cost.llm_sources),
        compute_sources=tuple(cost.compute_sources),
        compute_as_of=_utc(cost.compute_as_of),
    )


def _known(cost: CustomerCost, *amounts: Amount) -> Amount:
    """Return the sum of what is known; what was never tried cost nothing."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, ZERO) if known or not cost.ended_attempts + cost.running_attempts else None


def _llm(cost: CustomerCost) -> tuple[Amount, ...]:
    return cost.llm_usd, cost.retry_llm_usd


def _compute(cost: CustomerCost) -> tuple[Amount, ...]:
    final = (cost.compute_usd, cost.retry_compute_usd)
    return *final, cost.provisional_usd, cost.retry_provisional_usd


def _provisional(cost: CustomerCost) -> Amount:
    if _known(cost, *_compute(cost)) is None:
        return None
    return (cost.provisional_usd or ZERO) + (cost.retry_provisional_usd or ZERO)


def _retries(cost: CustomerCost) -> Amount:
    if not cost.retries:
        return ZERO
    machines = (cost.retry_compute_usd, cost.retry_provisional_usd)
    return _known(cost, cost.retry_llm_usd, *machines)


def _total(month: str, lines: Sequence[Line]) -> Line:
    """Return the sums of the lines: of what is known, and None where nothing is."""
    sums: dict[str, Any] = {}
    for name in SUMMED:
        values = [getattr(line, name) for line in lines]
        known = [value for value in values if value is not None]
        nothing = ZERO if name.endswith("_usd") else 0
        sums[name] = sum(known, nothing) if known or not values else None
    read = [line.compute_as_of for line in lines if line.compute_as_of]
    return Line(
        month=month,
        line="total",
        customer=None,
        agent=None,
        month_of="creation",
        llm_sources=_all(line.llm_sources for line in lines),
        compute_sources=_all(line.compute_sources for line in lines),
        compute_as_of=max(read, default=None),
        **sums,
    )


def _all(sources: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(set(chain.from_iterable(sources))))


def _shared_line(month: str, cost: SharedCost, usd: Amount) -> Line:
    nothing: dict[str, Any] = dict.fromkeys(SUMMED)
    amounts = {"compute_usd": usd, "total_usd": usd, "provisional_usd": usd}
    if cost.is_final and usd is not None:
        amounts["provisional_usd"] = ZERO
    return Line(
        month=month,
        line="shared",
        customer=None,
        agent=cost.product,
        month_of="use",
        llm_sources=(),
        compute_sources=(cost.source,),
        compute_as_of=_utc(cost.as_of),
        **nothing | amounts,
    )


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
