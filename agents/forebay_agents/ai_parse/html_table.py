"""Read the rows of a table that comes as HTML."""

from __future__ import annotations

from html.parser import HTMLParser

MOST_SPANNED = 1000
"""Places that a cell may span: more is no table."""


def rows(html: str) -> list[list[str]]:
    """Return the cells of the rows, all equally long; what a cell spans is empty but its first."""
    parser = _Rows()
    parser.feed(html)
    parser.close()
    width = max(map(len, parser.rows), default=0)
    return [row + [""] * (width - len(row)) for row in parser.rows if any(row)]


class _Rows(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._cell: list[str] | None = None
        self._span = (1, 1)
        self._filled: dict[int, int] = {}  # by column, how many rows it is spanned for from above

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._end_cell()
            self.rows.append([])
        elif tag in ("td", "th"):
            self._end_cell()
            said = dict(attrs)
            self._cell, self._span = [], (_span(said, "colspan"), _span(said, "rowspan"))
        elif tag == "br" and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _end_cell(self) -> None:
        if self._cell is None:
            return
        if not self.rows:
            self.rows.append([])
        row, (columns, lines) = self.rows[-1], self._span
        while self._filled.get(len(row)):
            self._filled[len(row)] -= 1
            row.append("")
        for column in range(len(row), len(row) + columns):
            self._filled[column] = lines - 1
        row += [" ".join("".join(self._cell).split()), *[""] * (columns - 1)]
        self._cell = None


def _span(attributes: dict[str, str | None], name: str) -> int:
    said = attributes.get(name) or "1"
    return min(max(int(said), 1), MOST_SPANNED) if said.isdecimal() else 1
