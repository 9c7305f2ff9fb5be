"""Read the rows of one table of line items, under columns that are known."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from forebay_agents.findings import Line
from forebay_agents.pages import Row, Segment
from forebay_agents.rules.amounts import UNIT, DecimalMark
from forebay_agents.rules.cells import Cell, cells, shown
from forebay_agents.rules.columns import AMOUNTS, Column
from forebay_agents.rules.figures import Figures, by_arithmetic, figures
from forebay_agents.rules.fit import Fit, fit
from forebay_agents.rules.heads import Concept, is_carried, is_total
from forebay_agents.rules.items import Item, Words, description, with_counts, words_of

LEADING = 1.0
"""The widest gap between two rows of one description, in heights of the text."""

SLACK = 28.0
"""How far before the next column's cells and head a description may end, in points."""

INDENT = 30.0
"""How far from its first row a description may go on, in points."""

FULL = 0.85
"""The share of the longest row of a cell that a full one has at least."""

WIDE = 10_000.0
"""Points beyond every page."""


@dataclass
class TableRows:
    """The rows of a table: give each to `read`, then take the `lines`.

    A row that sums up ends the table: after it only rows count whose quantity and price make their
    amount. Rows that carry sums forward are passed over.
    """

    columns: list[Column]
    page: int = 0
    is_closed: bool = False
    items: list[Item] = field(default_factory=list)
    loose: list[Words] = field(default_factory=list)
    edge: float = WIDE

    def __post_init__(self) -> None:
        concepts = {column.concept for column in self.columns}
        if not concepts & AMOUNTS and "quantity" not in concepts:
            self.columns = [
                replace(column, concept="amount") if column.concept == "price" else column
                for column in self.columns
            ]

    def read(self, row: Row, mark: DecimalMark | None) -> None:
        """Take a row of the page."""
        found = fit(row, self.columns, mark)
        top = min(segment.box[1] for segment in row)
        bottom = max(segment.box[3] for segment in row)
        self._take(found, list(words_of(description(found), top, bottom)), top)

    def lines(self) -> list[Line]:
        """Return the lines of the rows taken, and forget these."""
        found = [item.line(*self._full()) for item in self.items]
        self.items, self.loose, self.edge = [], [], WIDE
        lines = [line for line in found if re.search(r"[^\W\d_]", line.description)]
        return with_counts(lines) if not self._has("quantity") else lines

    def _take(self, found: Fit, words: list[Words], top: float) -> None:
        every = [cell for group in found.of.values() for cell in group] + found.outside
        labels = [cell.text for cell in every if cell.number is None]
        chosen = self._figures(found)
        has_all = chosen.quantities and chosen.prices
        if any(map(is_carried, labels)):
            self.loose = []
        elif any(map(is_total, labels)) and not has_all:
            self._close(chosen)
        elif self._is_complete(chosen):
            is_labelled = any(cell.number is None for cell in found.outside)
            self._add(chosen, words, top, is_labelled=is_labelled)
            self.edge = min(self.edge, self._edge(found))
        elif words and not found.of.keys() - {self._description()}:
            self._go_on(words)

    def _close(self, total: Figures) -> None:
        """End the table; where it has no amounts, prices that make its total are the amounts."""
        prices = [item.price for item in self.items if item.price is not None]
        has_amounts = any(item.amount is not None for item in self.items)
        if not has_amounts and len(prices) > 1 and sum(prices) in total.prices:
            for item in self.items:
                item.price, item.amount = None, item.price
        self.is_closed, self.loose = True, []

    def _has(self, concept: Concept) -> bool:
        return any(column.concept == concept for column in self.columns)

    def _description(self) -> Column:
        return next(column for column in self.columns if column.concept == "description")

    def _figures(self, found: Fit) -> Figures:
        chosen = figures(found)
        is_whole = chosen.quantities and chosen.prices and chosen.amounts
        every = [cell for group in found.of.values() for cell in group] + found.outside
        by_place = sorted(every, key=lambda cell: cell.left)
        return chosen if is_whole else by_arithmetic(by_place) or chosen

    def _is_complete(self, chosen: Figures) -> bool:
        if self.is_closed:
            quantity, price, amount = chosen.chosen()
            return None not in (quantity, price, amount)
        if any(column.concept in AMOUNTS for column in self.columns):
            return bool(chosen.amounts)
        return bool(chosen.quantities)

    def _add(self, chosen: Figures, words: list[Words], top: float, *, is_labelled: bool) -> None:
        """Add a line; words that stand just above it are its own when it has none beside it."""
        quantity, price, amount = chosen.chosen()
        if not is_labelled and not any(_says_something(row) for row in words):
            words = self._above(top)
        self.items.append(Item(self.page, words, quantity, price, amount))
        self.loose = []

    def _above(self, top: float) -> list[Words]:
        """Return the words just above a row, which the line above may hold as its own."""
        if not self.loose and self.items and len(self.items[-1].words) > 1:
            self.loose.append(self.items[-1].words.pop())
        return [words for words in self.loose[-1:] if top - words.bottom <= LEADING * words.height]

    def _go_on(self, words: list[Words]) -> None:
        """Take words without numbers: they go on above, or wait for what comes below."""
        last = self.items[-1].words if self.items else []
        if last and not self.loose and _follows(last[-1], words[0]):
            last += words
        else:
            self.loose += words

    def _full(self) -> tuple[float, float]:
        """Return beyond where a row of a description is full, or where one may go on."""
        return self.edge - SLACK, self.edge - 2 * SLACK

    def _edge(self, found: Fit) -> float:
        """Return where the next column begins, as far as this row and the heads tell."""
        place = self.columns.index(self._description())
        lefts = [column.left for column in self.columns[place + 1 :]]
        lefts += [
            cell.left for column in self.columns[place + 1 :] for cell in found.of.get(column, [])
        ]
        return min(lefts, default=WIDE)


def _says_something(words: Words) -> bool:
    """Tell words from a mere measure: 0,840 kg."""
    return not re.fullmatch(rf"[\d.,]+(?:{UNIT})?", words.text, re.IGNORECASE)


def _follows(above: Words, below: Words) -> bool:
    is_near = below.top - above.bottom <= LEADING * above.height
    return is_near and abs(above.left - below.left) <= INDENT


@dataclass
class RuledRows(TableRows):
    """The rows of a ruled table, cell by cell; the places of words count characters and rows.

    Rows have run together when a cell holds more than one sum.
    """

    has_run_together: bool = False

    def read_cells(self, texts: Sequence[str], mark: DecimalMark | None) -> None:
        """Take a row, a text for each column."""
        of = {
            column: [self._cell(column, text, mark)]
            for column, text in zip(self.columns, texts, strict=True)
            if text.strip()
        }
        found = Fit(of, [], 0)
        rows = [shown(row) for cell in description(found) for row in cell.text.split("\n")]
        words = [Words(row, 0, place, len(row), place + 1) for place, row in enumerate(rows)]
        self._take(found, words, 0)

    def _cell(self, column: Column, text: str, mark: DecimalMark | None) -> Cell:
        """Return what a cell holds: one number, or words."""
        if column.concept == "description":
            return Cell(text, column.left, column.right)
        found = cells(Segment(text.replace("\n", " "), (column.left, 0, column.right, 1)), mark)
        self.has_run_together |= column.concept in AMOUNTS and len(found) > 1
        return found[0] if len(found) == 1 else Cell(text, column.left, column.right)

    def _go_on(self, words: list[Words]) -> None:
        """Leave out a cell of words alone: it is a remark or a title."""

    def _full(self) -> tuple[float, float]:
        """Return how many characters fill a row: a bit less than the longest has."""
        longest = max((row.right for item in self.items for row in item.words), default=0.0)
        return FULL * longest, FULL**2 * longest
