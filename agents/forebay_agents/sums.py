"""Check a document's sums against each other: its lines, its net, its tax and its total."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from forebay_agents.findings import AMOUNTS, Found, Line, Name

Sums = Mapping[Name, Decimal]

ROUNDING = 2
"""Units of the last digit by which a sum of rounded sums may be off."""


def sums(fields: Mapping[Name, Found]) -> dict[Name, Decimal]:
    """Return the stated sums of money as numbers."""
    return {name: Decimal(fields[name].value) for name in AMOUNTS if name in fields}


def lines_sum(lines: Sequence[Line]) -> Decimal | None:
    """Return what the amounts of `lines` sum to; None when no line has one."""
    amounts = [Decimal(line.amount) for line in lines if line.amount is not None]
    return sum(amounts, Decimal(0)) if amounts else None


def lines_miss(lines: Sequence[Line], stated: Sums) -> Decimal | None:
    """Return by how much `lines` miss the nearest of the sums that lines may make.

    That is the net, as most lines are net, or the total, or the total less the tax; a credit note
    may give its lines another sign. It is zero when they add up, None when there is nothing to
    compare.
    """
    made = lines_sum(lines)
    goals = [stated[name] for name in ("total_net", "total") if name in stated]
    if "total" in stated and "tax" in stated:
        goals.append(stated["total"] - stated["tax"])
    if made is None or not goals:
        return None
    return min(miss(abs(made), abs(goal)) for goal in goals)


def total_miss(stated: Sums) -> Decimal | None:
    """Return by how much net and tax miss the total: zero when they add up, None if unsaid."""
    if not {"total", "total_net", "tax"} <= stated.keys():
        return None
    return miss(stated["total_net"] + stated["tax"], stated["total"])


def adds_up(made: Decimal, total: Decimal) -> bool:
    """Tell whether what was added up is the total, but for rounding: the one rule for all sums."""
    return abs(made - total) <= ROUNDING * min(last_digit(made), last_digit(total))


def miss(made: Decimal, total: Decimal) -> Decimal:
    """Return by how much a sum misses the total; zero when it adds up."""
    return Decimal(0) if adds_up(made, total) else abs(made - total)


def last_digit(value: Decimal) -> Decimal:
    """Return one unit of the last digit of `value`: 0.01 for 104.90, 1 for 1155495."""
    return Decimal(1).scaleb(int(value.as_tuple().exponent))
