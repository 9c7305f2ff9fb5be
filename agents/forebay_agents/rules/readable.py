"""How much of a page the rules look at, so that no page takes them long."""

from collections.abc import Iterator

from forebay_agents.pages import Page, Row, Segment

WIDEST, LONGEST, HIGHEST = 60, 300, 1_000
"""The most segments of a row, characters of one and rows of a page that are looked at."""


def readable(page: Page) -> Iterator[Row]:
    """Yield the rows of a page that the rules look at, with the beginning of longer texts."""
    for row in page.rows[:HIGHEST]:
        if 0 < len(row) <= WIDEST:
            yield [_short(segment) for segment in row]


def _short(segment: Segment) -> Segment:
    text = segment.text
    return segment if len(text) <= LONGEST else Segment(text[:LONGEST], segment.box)
