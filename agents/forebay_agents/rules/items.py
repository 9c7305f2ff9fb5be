"""Make line items of the rows of a table: their words, and which number is what."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise, product

from forebay_agents.findings import Line
from forebay_agents.rules.cells import Cell
from forebay_agents.rules.columns import Column
from forebay_agents.rules.fit import Fit
from forebay_agents.sums import last_digit

HALF_A_CENT = Decimal("0.005")


_GOES_ON = re.compile(r"(?!in[ck]l)[^\W\d_A-ZÀ-Þ\u3040-\u9fff]")


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a description in one row of the page, and where they stand."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """The height of the words, in points."""
        return max(self.bottom - self.top, 1.0)

    def begins_at(self) -> float:
        """Return the width of the first word, in points."""
        first = re.match(r"\S*", self.text)
        size = len(first[0]) if first else 0
        return (self.right - self.left) * size / max(len(self.text), 1)


@dataclass(slots=True)
class Item:
    """A line item while its table is read: rows of words, and its numbers."""

    page: int
    words: list[Words]
    quantity: Decimal | None = None
    price: Decimal | None = None
    amount: Decimal | None = None

    def line(self, full: float, unfinished: float) -> Line:
        """Return the line, with the words that belong to its description: see `joined`."""
        return Line(
            joined(self.words, full, unfinished),
            _text(self.quantity),
            _text(self.price),
            _text(self.amount),
            self.page,
        )


@dataclass(frozen=True, slots=True)
class Numbers:
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


def counted(text: str) -> tuple[Decimal | None, str]:
    """Return the quantity that words begin with, as in "3 x Valve", and the other words."""
    match = re.match(r"(\d{1,4})\s?[x×]\s?(?=[^\W\d_])(.+)", text)
    return (Decimal(match[1]), match[2]) if match else (None, text)


def multiply(quantity: Decimal, price: Decimal, amount: Decimal) -> bool:
    """Tell whether quantity times price is the amount, as rounded there."""
    return abs(quantity * price - amount) <= max(last_digit(amount) / 2, HALF_A_CENT)


def numbers(found: Fit) -> Numbers:
    """Return the numbers of a row by their columns; a debit is an amount below zero."""
    result = Numbers()
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


def by_arithmetic(cells: Sequence[Cell]) -> Numbers | None:
    """Return the three numbers of a row of which the first two make the last, if there are such.

    Of several the last amount is taken. Nothing is told by rates, nor where all are the same.
    """
    values = [cell.number for cell in cells if cell.number is not None and not cell.is_rate]
    for last in range(len(values) - 1, 1, -1):
        for second in range(last - 1, 0, -1):
            for first in range(second - 1, -1, -1):
                quantity, price, amount = values[first], values[second], values[last]
                if amount and multiply(quantity, price, amount):
                    return Numbers([quantity], [price], [amount])
    return None


def joined(words: Sequence[Words], full: float, unfinished: float) -> str:
    """Join the rows of a description that were broken because they were full.

    A row was full when the next word would have reached beyond `full`, or beyond `unfinished` where
    the sentence goes on. What follows a row that was not full is a remark, no part of it.
    """
    texts = [words[0].text] if words else []
    for above, below in pairwise(words):
        reach = above.right + above.height / 4 + below.begins_at()
        goes_on = above.text.endswith((",", "-", "/", "&")) or _GOES_ON.match(below.text)
        if reach <= (unfinished if goes_on else full):
            break
        texts.append(below.text)
    return " ".join(texts)


def _text(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:f}"


def words_of(cells: Sequence[Cell], top: float, bottom: float) -> Iterator[Words]:
    """Yield the words of a description cell by cell as one run; none when there are none."""
    if cells:
        text = " ".join(cell.text for cell in cells)
        yield Words(text, cells[0].left, top, cells[-1].right, bottom)


def description(found: Fit) -> list[Cell]:
    """Return the cells of the description."""
    return next((cells for column, cells in found.of.items() if _is_description(column)), [])


def _is_description(column: Column) -> bool:
    return column.concept == "description"
