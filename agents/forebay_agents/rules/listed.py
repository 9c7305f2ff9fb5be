"""Find line items without any heads: rows of words and a sum, which the sum below them adds up."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from forebay_agents.findings import Line
from forebay_agents.pages import Row
from forebay_agents.rules.amounts import DecimalMark
from forebay_agents.rules.cells import Cell, cells, numbers_in
from forebay_agents.rules.figures import by_arithmetic, multiply
from forebay_agents.rules.heads import is_carried, is_total
from forebay_agents.rules.items import line
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
        every = [cell for segment in row for cell in cells(segment, mark)]
        sums = [cell for cell in every if cell.number is not None and not cell.is_rate]
        text = " ".join(cell.text for cell in every)
        if self._counts(text, mark):
            return
        if not sums:
            self._title = text
            return
        amount, end = sums[-1].number or Decimal(0), sums[-1].left
        words = [cell for cell in every if (cell.number is None or cell.unit) and cell.left < end]
        if any(is_carried(cell.text) or is_total(cell.text) for cell in words):
            self._add_up(amount, sums[-1].right)
            self._taxes.append(amount)
        else:
            new = _counted_below(self._title, text, mark, page)
            new = new or _line(every, words, page, amount)
            if _letters(new.description) > 1:
                self._above.append(_Sum(new, amount, sums[-1].right))
                self._taxes = []
        self._title = ""

    def _counts(self, text: str, mark: DecimalMark | None) -> bool:
        """Take "2 x 1,19" below a line of 2,38 for its quantity and price."""
        values = numbers_in(text, mark)
        if not self._above or len(values) != 2 or not multiply(*values, self._above[-1].amount):
            return False
        last = self._above.pop()
        quantity, price = map(str, values)
        counted = replace(last.line, quantity=quantity, unit_price=price)
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
            is_made = run > 1 and abs(made - total) <= near
            if (is_made or made in goals) and run > len(self.lines):
                self.lines = [each.line for each in list(self._above)[-run:]]


def _counted_below(title: str, text: str, mark: DecimalMark | None, page: int) -> Line | None:
    """Return the line of "2 x 1,19  2,38" below its title; None when that is not what it is."""
    values = numbers_in(text, mark)
    if not title or len(values) != 3 or not multiply(*values) or _letters(text) > 4:
        return None
    quantity, price, amount = map(str, values)
    return Line(title, quantity, price, amount, page)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _line(every: Sequence[Cell], words: Sequence[Cell], page: int, amount: Decimal) -> Line:
    found = by_arithmetic(every)
    quantity, price, _ = found.chosen() if found else (None, None, None)
    return line(" ".join(cell.text for cell in words), quantity, price, amount, page)
