"""Tell which numbers of a row are quantity, price and amount: by columns and by arithmetic."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product

from forebay_agents.rules.cells import Cell
from forebay_agents.rules.fit import Fit
from forebay_agents.sums import last_digit

HALF_A_CENT = Decimal("0.005")


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of a row that may be quantity, price and amount."""

    quantities: list[Decimal] = field(default_factory=list)
    prices: list[Decimal] = field(default_factory=list)
    amounts: list[Decimal] = field(default_factory=list)

    def chosen(self) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
        """Return quantity, price and amount: those that multiply, else first, first and last."""
        for amount in reversed(self.amounts):
            for quantity, price in product(self.quantities, self.prices):
                if multiply(quantity, price, amount):
                    return quantity, price, amount
        return (
            next(iter(self.quantities), None),
            next(iter(self.prices), None),
            next(reversed(self.amounts), None),
        )


def counted(text: str, price: Decimal | None, amount: Decimal | None) -> tuple[Decimal | None, str]:
    """Return the quantity that words begin with, and the other words.

    It is one where it says so, as in "3 x Valve", or where it makes the amount of the price.
    """
    match = re.match(r"(\d{1,4})(?:\s?([x×])|\b)\s?(?=[^\W\d_])(.+)", text)
    if match is None:
        return None, text
    quantity = Decimal(match[1])
    makes = price is not None and amount is not None and multiply(quantity, price, amount)
    return (quantity, match[3]) if match[2] or makes else (None, text)


def multiply(quantity: Decimal, price: Decimal, amount: Decimal) -> bool:
    """Tell whether quantity times price is the amount, as rounded there."""
    return abs(quantity * price - amount) <= max(last_digit(amount) / 2, HALF_A_CENT)


def figures(found: Fit) -> Figures:
    """Return the numbers of a row by their columns; a debit is an amount below zero."""
    result = Figures()
    for column, cells in found.of.items():
        values = [cell.number for cell in cells if cell.number is not None]
        match column.concept:
            case "quantity":
                result.quantities.extend(values)
            case "price":
                result.prices.extend(values)
            case "amount" | "credit":
                result.amounts.extend(values)
            case "debit":
                result.amounts.extend(-abs(value) for value in values)
    return result


def by_arithmetic(cells: Sequence[Cell]) -> Figures | None:
    """Return the three numbers of a row of which the first two make the last, if there are such.

    Of several the last amount is taken. Nothing is told by rates, nor where all are the same.
    """
    values = [cell.number for cell in cells if cell.number is not None and not cell.is_rate]
    for last in range(len(values) - 1, 1, -1):
        for second in range(last - 1, 0, -1):
            for first in range(second - 1, -1, -1):
                quantity, price, amount = values[first], values[second], values[last]
                if amount and multiply(quantity, price, amount):
                    return Figures([quantity], [price], [amount])
    return None
