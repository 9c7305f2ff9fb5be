"""A month's costs by customer, to the cent: what finance puts on bills.

Amounts are known to many digits. Rounding each would make sums that do not add up, so a column is
rounded as a whole: its total to the cent, and each amount to one of its two neighbouring cents,
those with the largest remainders upwards. The order of equal remainders is that of the lines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from itertools import chain
from typing import Any

from forebay.csv_cells import BOM, cell
from forebay.rows import CustomerCost, SharedCost

CENT = Decimal("0.01")
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a month's costs, amounts in whole cents; None: nothing is known of it.

    `line` is customer, total (of the customers) or shared; a shared line's `agent` is the product.
    Of `compute_usd`, `provisional_usd` may still change; of `total_usd`, retries cost
    `retries_usd`. The last three count ended attempts of which something is not known.
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
    llm_usd: Decimal | None
    compute_usd: Decimal | None
    total_usd: Decimal | None
    provisional_usd: Decimal | None
    retries_usd: Decimal | None
    attempts: int | None = None
    attempts_without_tokens: int | None = None
    attempts_without_llm_cost: int | None = None
    attempts_without_compute_cost: int | None = None


def month_bounds(year: int, month: int) -> tuple[datetime, datetime]:
    """Return when a month begins and ends, in UTC."""
    follows = (year + 1, 1) if month == 12 else (year, month + 1)
    return datetime(year, month, 1, tzinfo=UTC), datetime(*follows, 1, tzinfo=UTC)


def month_lines(
    month: str, costs: Sequence[CustomerCost], shared: Sequence[SharedCost]
) -> list[Line]:
    """Return the customers' lines, their total, and what is shared, which is in no total."""
    of_customers = _customer_lines(month, costs)
    amounts = to_cents([one.usd for one in shared])
    return [
        *of_customers,
        _total(month, of_customers),
        *(_shared_line(month, one, usd) for one, usd in zip(shared, amounts, strict=True)),
    ]


def to_cents(amounts: Sequence[Decimal]) -> list[Decimal]:
    """Round amounts to cents that add up to their sum, rounded; each is off by less than a cent."""
    floors = [amount.quantize(CENT, ROUND_FLOOR) for amount in amounts]
    total = sum(amounts, ZERO).quantize(CENT, ROUND_HALF_UP)
    missing = int((total - sum(floors, ZERO)) / CENT)
    by_remainder = sorted(range(len(amounts)), key=lambda n: floors[n] - amounts[n])
    upwards = set(by_remainder[:missing])
    return [floor + CENT if n in upwards else floor for n, floor in enumerate(floors)]


def as_csv(lines: Iterable[Line]) -> Iterator[str]:
    """Yield a CSV file, line by line, that a spreadsheet opens as text and numbers."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    names = [field.name for field in fields(Line)]
    text.write(BOM)
    for row in chain([names], ([getattr(line, name) for name in names] for line in lines)):
        writer.writerow([cell(value) for value in row])
        yield text.getvalue()
        text.seek(0)
        text.truncate()


def _customer_lines(month: str, costs: Sequence[CustomerCost]) -> list[Line]:
    llm = to_cents([one.llm_usd + one.retry_llm_usd for one in costs])
    compute = to_cents([_compute(one) for one in costs])
    provisional = to_cents([one.provisional_usd + one.retry_provisional_usd for one in costs])
    retries = to_cents([_retries(one) for one in costs])
    rounded = zip(costs, llm, compute, provisional, retries, strict=True)
    return [_customer_line(month, *amounts) for amounts in rounded]


def _customer_line(
    month: str,
    cost: CustomerCost,
    llm: Decimal,
    compute: Decimal,
    provisional: Decimal,
    retries: Decimal,
) -> Line:
    knows_llm = bool(cost.priced_attempts or llm or not cost.ended_attempts)
    knows_compute = bool(cost.costed_attempts or compute or not cost.ended_attempts)
    knows_any = knows_llm or knows_compute
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
        llm_usd=llm if knows_llm else None,
        compute_usd=compute if knows_compute else None,
        total_usd=llm + compute if knows_any else None,
        provisional_usd=_part(provisional, compute) if knows_compute else None,
        retries_usd=_part(retries, llm + compute) if knows_any else None,
        attempts=cost.ended_attempts,
        attempts_without_tokens=cost.ended_attempts - cost.measured_attempts,
        attempts_without_llm_cost=cost.ended_attempts - cost.priced_attempts,
        attempts_without_compute_cost=cost.ended_attempts - cost.costed_attempts,
    )


def _compute(cost: CustomerCost) -> Decimal:
    final = cost.compute_usd + cost.retry_compute_usd
    return final + cost.provisional_usd + cost.retry_provisional_usd


def _retries(cost: CustomerCost) -> Decimal:
    return cost.retry_llm_usd + cost.retry_compute_usd + cost.retry_provisional_usd


def _part(part: Decimal, whole: Decimal) -> Decimal:
    """Return a rounded part, which rounding must not make larger than its rounded whole."""
    return min(part, whole) if part > 0 else part


def _total(month: str, lines: Sequence[Line]) -> Line:
    """Return the sums of the lines: of what is known."""
    sums: dict[str, Any] = {}
    for field in fields(Line)[4:]:
        known = [value for line in lines if (value := getattr(line, field.name)) is not None]
        sums[field.name] = sum(known, ZERO) if field.name.endswith("_usd") else sum(known)
    return Line(month=month, line="total", customer=None, agent=None, **sums)


def _shared_line(month: str, cost: SharedCost, usd: Decimal) -> Line:
    return Line(
        month=month,
        line="shared",
        customer=None,
        agent=cost.product,
        tasks=None,
        input_tokens=None,
        output_tokens=None,
        cached_tokens=None,
        pages=None,
        llm_usd=None,
        compute_usd=usd,
        total_usd=usd,
        provisional_usd=ZERO if cost.is_final else usd,
        retries_usd=None,
    )
