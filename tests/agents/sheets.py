"""Make pages from lines of text, as reading gives them to the rules."""

from forebay_agents.pages import Box, Page, Row, Segment
from forebay_agents.rules import find_fields

WIDTH, HEIGHT = 595.0, 842.0
LINE, LETTER = 14.0, 5.0
"""Points from one line to the next, and the width of a letter."""


def page(*lines: str, columns: float = 130.0, number: int = 1) -> Page:
    """Return a page whose segments are parted by bars, in columns `columns` points wide."""
    rows = [_row(line, 40 + LINE * index, columns) for index, line in enumerate(lines)]
    return Page(number, WIDTH, HEIGHT, rows=[row for row in rows if row])


def found(*lines: str, columns: float = 130.0) -> dict[str, str]:
    """Return the fields of one page with these lines, without its language."""
    fields = find_fields([page(*lines, columns=columns)])
    return {name: field.value for name, field in fields.items() if name != "language"}


def _row(line: str, top: float, columns: float) -> Row:
    cells = enumerate(line.split("|"))
    return [_segment(text.strip(), 40 + columns * at, top) for at, text in cells if text.strip()]


def _segment(text: str, left: float, top: float) -> Segment:
    box: Box = (left, top, left + LETTER * len(text), top + 10)
    return Segment(text, box)
