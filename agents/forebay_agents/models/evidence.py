"""Find the words that a model quotes: they count only where the document says them."""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice

from forebay_agents.pages import Box, Page, row_text, union

MOST_PLACES = 20
"""Places of the same words that are looked at."""

LONGEST_ROW = 500
"""Characters of a row that are looked at: real rows are shorter, and labels take time to find."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where words stand: their page, the box around their segments, and the rows those are in.

    `text` is that of the rows, `above` that of the row over them.
    """

    page: int
    box: Box | None
    rows: range
    text: str
    above: str


def plain(text: str) -> str:
    """Return `text` without width and case."""
    return unicodedata.normalize("NFKC", text).casefold()


def squeezed(text: str) -> str:
    """Return `text` without the differences that do not count: spaces, width, case."""
    return "".join(plain(text).split())


class Sheet:
    """A page to search in: its rows run together, and each segment knows where it begins.

    `rows` are their texts with wide gaps kept.
    """

    def __init__(self, page: Page) -> None:
        self.number = page.number
        self.rows = [row_text(row)[:LONGEST_ROW] for row in page.rows]
        self._segments = [
            (number, segment) for number, row in enumerate(page.rows) for segment in row
        ]
        pieces = [squeezed(segment.text) for _, segment in self._segments]
        self._text = "".join(pieces)
        self._begins = [0, *accumulate(map(len, pieces))][:-1]

    def places(self, words: str) -> Iterator[Place]:
        """Yield every place of the words on this page, from the top."""
        wanted = squeezed(words)
        start = self._text.find(wanted) if wanted else -1
        while start >= 0:
            yield self._place(start, start + len(wanted))
            start = self._text.find(wanted, start + 1)

    def text(self, rows: Iterable[int]) -> str:
        """Return the text of the rows that there are among these."""
        return "\n".join(self.rows[row] for row in rows if 0 <= row < len(self.rows))

    def _place(self, start: int, end: int) -> Place:
        first = bisect_right(self._begins, start) - 1
        touched = self._segments[first : bisect_left(self._begins, end)]
        rows = range(touched[0][0], touched[-1][0] + 1)
        known = [segment.box for _, segment in touched if any(segment.box)]
        box = union(known) if known else None
        above = self.text([rows.start - 1])
        return Place(self.number, box, rows, self.text(rows), above)


def places(sheets: Sequence[Sheet], words: str, page: int) -> list[Place]:
    """Return the places of the words: those on the page that was named, else those on any."""
    named = [sheet for sheet in sheets if sheet.number == page]
    return _first_places(named, words) or _first_places(sheets, words)


def _first_places(sheets: Sequence[Sheet], words: str) -> list[Place]:
    everywhere = chain.from_iterable(sheet.places(words) for sheet in sheets)
    return list(islice(everywhere, MOST_PLACES))
