"""Check a document's sums against each other: its lines, its net, its tax and its total."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from forebay_agents.findings import Found, Line, Name

Sums = Mapping[Name, Decimal]


def sums(fields: Mapping[Name, Found]) -> dict[Name, Decimal]:
    """Return the stated sums of money as numbers."""
    names: tuple[Name, ...] = ("total", "total_net", "tax")
    return {name: Decimal(fields[name].value) for name in names if name in fields}


def lines_sum(lines: Sequence[Line]) -> Decimal | None:
    """Return what the amounts of `lines` sum to; None when no line has one."""
    amounts = [Decimal(line.amount) for line in lines if line.amount is not None]
    return sum(amounts, Decimal(0)) if amounts else None


def lines_miss(lines: Sequence[Line], stated: Sums) -> Decimal | None:
    """Return by how much `lines` miss the nearest of the sums that lines may make.

    That is the net, as most lines are net, or the total, or the total less the tax. It is zero
    when they add up to within one unit of the last digit, and None when there is nothing to
    compare.
    """
    lines_make = lines_sum(lines)
    goals = [stated[name] for name in ("total_net", "total") if name in stated]
    if "total" in stated and "tax" in stated:
        goals.append(stated["total"] - stated["tax"])
    if lines_make is None or not goals:
        return None
    return min(_miss(lines_make, goal) for goal in goals)


def total_miss(stated: Sums) -> Decimal | None:
    """Return by how much net and tax miss the total; zero and None as in `lines_miss`."""
    if not {"total", "total_net", "tax"} <= stated.keys():
        return None
    return _miss(stated["total_net"] + stated["tax"], stated["total"])


def _miss(one: Decimal, other: Decimal) -> Decimal:
    """Return the distance of two sums, whatever sign a credit note gives them."""
    miss = abs(abs(one) - abs(other))
    return miss if miss > last_digit(other) else Decimal(0)


def last_digit(value: Decimal) -> Decimal:
    """Return one unit of the last digit of `value`: 0.01 for 104.90, 1 for 1155495."""
    return Decimal(1).scaleb(int(value.as_tuple().exponent))
