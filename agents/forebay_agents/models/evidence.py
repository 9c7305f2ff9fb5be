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


def plain(text: str) -> str:
    """Return `text` without width and case."""
    return unicodedata.normalize("NFKC", text).casefold()


def squeezed(text: str) -> str:
    """Return `text` without the differences that do not count: spaces, width, case."""
    return "".join(plain(text).split())


class SearchablePage:
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

    def locations(self, words: str) -> "Iterator[Location]":
        """Yield every place of the words on this page, from the top."""
        wanted = squeezed(words)
        start = self._text.find(wanted) if wanted else -1
        while start >= 0:
            yield self._location(start, start + len(wanted))
            start = self._text.find(wanted, start + 1)

    def text(self, rows: Iterable[int]) -> str:
        """Return the text of the rows that there are among these."""
        return "\n".join(self.rows[row] for row in rows if 0 <= row < len(self.rows))

    def _location(self, start: int, end: int) -> "Location":
        first = bisect_right(self._begins, start) - 1
        touched = self._segments[first : bisect_left(self._begins, end)]
        rows = range(touched[0][0], touched[-1][0] + 1)
        known = [segment.box for _, segment in touched if any(segment.box)]
        box = union(known) if known else None
        return Location(self, rows, box)


@dataclass(frozen=True, slots=True)
class Location:
    """Where words stand: the page, the rows they are in, and the box around their segments."""

    page: SearchablePage
    rows: range
    box: Box | None

    @property
    def text(self) -> str:
        """The text of the rows."""
        return self.page.text(self.rows)

    @property
    def above(self) -> str:
        """The text of the row over them."""
        return self.page.text([self.rows.start - 1])


def locations(pages: Sequence[SearchablePage], words: str, number: int) -> list[Location]:
    """Return where the words stand: on the page of that number, else on any."""
    named = [page for page in pages if page.number == number]
    return _first_locations(named, words) or _first_locations(pages, words)


def _first_locations(pages: Sequence[SearchablePage], words: str) -> list[Location]:
    everywhere = chain.from_iterable(page.locations(words) for page in pages)
    return list(islice(everywhere, MOST_PLACES))
