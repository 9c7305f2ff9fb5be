"""Find line items without any heads: rows of words and a sum, which the sum below them adds up."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from forebay_agents.findings import Line
from forebay_agents.pages import Row
from forebay_agents.rules.amounts import DecimalMark
from forebay_agents.rules.cells import Cell, cells, numbers_in, parts
from forebay_agents.rules.figures import by_arithmetic, multiply
from forebay_agents.rules.heads import is_carried, is_total
from forebay_agents.rules.items import line, with_counts
from forebay_agents.sums import last_digit

ROWS = 300
"""How many rows above a sum may belong to it."""

ALIGNED = 30.0
"""How far the right edges of sums in one column may be apart, in points."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """A row that ends with a sum: the line it would be, and where the sum ends."""

    line: Line
    amount: Decimal
    right: float


class ListedLines:
    """Take the rows of a document in order; `lines` is the longest run that a sum adds up."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._above: deque[_Sum] = deque(maxlen=ROWS)
        self._taxes: list[Decimal] = []
        self._title = ""

    def read(self, row: Row, mark: DecimalMark | None, page: int) -> None:
        """Take a row: it may be a line, say how many there were of the line above, or sum up."""
        whole = [cell for segment in row for cell in cells(segment, mark)]
        text = " ".join(cell.text for cell in whole)
        last = next((cell for cell in reversed(whole) if _is_sum(cell)), None)
        if self._counts(text, mark):
            return
        title, self._title = self._title, "" if last else text
        if last is None or last.number is None:
            return
        words = _words(whole, last)
        if any(is_carried(word) or is_total(word) for word in words):
            self._add_up(last.number, last.right)
            self._taxes.append(last.number)
            return
        new = _counted_below(title, text, mark, page) or _line(row, words, last, mark, page)
        if _letters(new.description) > 1:
            self._above.append(_Sum(new, last.number, last.right))
            self._taxes = []

    def _counts(self, text: str, mark: DecimalMark | None) -> bool:
        """Take "2 x 1,19" below a line of 2,38 for its quantity and price."""
        values = numbers_in(re.sub(r"(\d)([^\W\d_])", r"\1 \2", text), mark)
        if not self._above or len(values) != 2:
            return False
        quantity, price = values
        if not multiply(quantity, price, self._above[-1].amount):
            return False
        last = self._above.pop()
        counted = replace(last.line, quantity=f"{quantity:f}", unit_price=f"{price:f}")
        self._above.append(replace(last, line=counted))
        return True

    def _add_up(self, total: Decimal, right: float) -> None:
        """Keep the rows just above that make `total`, alone or with the taxes said between."""
        goals = {total - tax for tax in (*self._taxes, sum(self._taxes))} - {total}
        made, run = Decimal(0), 0
        for above in reversed(self._above):
            if abs(above.right - right) > ALIGNED:
                break
            made, run = made + above.amount, run + 1
            near = last_digit(total) if run > 2 and abs(total) >= 100 * last_digit(total) else 0
            is_made = run > 1 and made and abs(made - total) <= near
            if (is_made or made in goals) and run > len(self.lines):
                self.lines = with_counts([each.line for each in list(self._above)[-run:]])


def _counted_below(title: str, text: str, mark: DecimalMark | None, page: int) -> Line | None:
    """Return the line of "2 x 1,19  2,38" below its title; None when that is not what it is."""
    values = numbers_in(text, mark)
    if not title or len(values) != 3 or not multiply(*values) or _letters(text) > 4:
        return None
    quantity, price, amount = map(str, values)
    return Line(title, quantity, price, amount, page)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _line(row: Row, words: list[str], last: Cell, mark: DecimalMark | None, page: int) -> Line:
    """Return the line of words before a sum; of numbers among them those that make it."""
    for split in (cells, parts):
        every = [cell for segment in row for cell in split(segment, mark)]
        if found := by_arithmetic(every):
            return line(" ".join(_words(every, last)), *found.chosen(), page)
    return line(" ".join(words), None, None, last.number, page)


def _words(cells: Sequence[Cell], last: Cell) -> list[str]:
    """Return the words among `cells` that stand before the `last` sum of their row.

    A date, and then a person's initials, are none of them.
    """
    before = [cell for cell in cells if not _is_sum(cell, bare=True) and cell.left < last.left]
    texts = [cell.text for cell in before if not cell.is_date]
    has_initials = len(before) > len(texts) > 1 and re.fullmatch(r"[A-Z]{2,3}", texts[0])
    return texts[1:] if has_initials else texts


def _is_sum(cell: Cell, *, bare: bool = False) -> bool:
    """Tell a number that is no rate, and has nothing behind it if it is to be bare."""
    return cell.number is not None and not (cell.unit if bare else cell.is_rate)
