"""Find the line items of a document: in ruled tables, under the heads of columns, or by sums."""

from collections.abc import Iterator, Sequence

from forebay_agents.findings import Line
from forebay_agents.pages import Page, Row, Table, contains, middle
from forebay_agents.rules.amounts import DecimalMark, decimal_mark
from forebay_agents.rules.columns import columns_of, head_at
from forebay_agents.rules.listed import ListedLines
from forebay_agents.rules.readable import HIGHEST, WIDEST, readable
from forebay_agents.rules.table import RuledRows, TableRows

LIMIT = 2_000
"""How many lines are kept."""

LONGEST_CELL = 3_000
"""Characters of a ruled cell; where one has more the table is none of lines."""


class LineReader:
    """Read line items page by page: `add` all pages in order, then take the `lines`.

    Memory is bounded: of more lines than the limit the first are kept, and `notes` says so.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._lines: list[Line] = []
        self._mark: DecimalMark | None = None
        self._table: TableRows | None = None
        self._ruled: RuledRows | None = None
        self._listed = ListedLines()

    @property
    def lines(self) -> list[Line]:
        """The lines found so far: those under heads, or else those that a sum adds up."""
        return self._lines or self._listed.lines

    def add(self, page: Page) -> None:
        """Take the lines of `page`; a table of the page before may go on here."""
        if self.notes:
            return
        every = list(readable(page))
        texts = [segment.text for row in every for segment in row]
        self._mark = decimal_mark(texts) or self._mark
        ruled = [(table, some) for table in page.tables if (some := self._read_ruled(table, page))]
        rows = [row for row in every if not any(_is_in(row, table) for table, _ in ruled)]
        found = [(table.box[1], lines) for table, lines in ruled]
        found += list(self._read_rows(rows, page.number))
        for _, lines in sorted(found, key=lambda each: each[0]):
            self._keep(lines, page.number)
        for row in every if not self._lines else ():
            self._listed.read(row, self._mark, page.number)

    def _read_rows(self, rows: Sequence[Row], number: int) -> Iterator[tuple[float, list[Line]]]:
        """Yield the lines of each table on the page, with the place where its rows begin."""
        index, top = 0, 0.0
        if self._table is not None:
            self._table.page = number
        while index < len(rows):
            columns, after = head_at(rows, index)
            if columns:
                if self._table is not None:
                    yield top, self._table.lines()
                self._table, top = TableRows(columns, number), rows[index][0].box[1]
            elif self._table is not None:
                self._table.read(rows[index], self._mark)
            index = max(after, index + 1)
        if self._table is not None:
            yield top, self._table.lines()

    def _read_ruled(self, table: Table, page: Page) -> list[Line]:
        """Return the lines of a ruled table, if its first row has heads or it goes on.

        There are none when its rows ran together; then the rows of the page tell them.
        """
        if not _is_table(table):
            return []
        columns = columns_of(table.rows[0])
        rows = table.rows[1:] if columns else table.rows
        if columns:
            self._ruled = RuledRows(columns, page.number)
        elif self._ruled is None or len(self._ruled.columns) != len(table.rows[0]):
            return []
        self._ruled.page = page.number
        for row in rows[:HIGHEST]:
            self._ruled.read_cells(row, self._mark)
        found = self._ruled.lines()
        return [] if self._ruled.has_run_together else found

    def _keep(self, lines: Sequence[Line], page: int) -> None:
        room = LIMIT - len(self._lines)
        self._lines += lines[:room]
        if len(lines) > room and not self.notes:
            self.notes.append(f"Only the first {LIMIT} lines are kept: page {page} has more.")


def _is_table(table: Table) -> bool:
    longest = max((len(cell) for row in table.rows for cell in row), default=0)
    return len(table.rows[0]) <= WIDEST and longest <= LONGEST_CELL


def _is_in(row: Row, table: Table) -> bool:
    return contains(table.box, middle(row[0].box))
