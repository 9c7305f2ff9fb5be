"""Cut a document into chunks of pages that fit a model's context, one page in hand at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from forebay.jsonb import mended
from forebay_agents.models.estimate import TextSize
from forebay_agents.pages import Page, Row, Segment, row_text

SMALLEST = 200
"""Characters of text that are not cut any further."""

NOWHERE = (0.0, 0.0, 0.0, 0.0)
"""The box of a row whose place on the page is not known."""


def with_rows(page: Page) -> Page:
    """Return the page with rows, which are those of its text where it has no others."""
    if page.rows or not page.text.strip():
        return page
    lines = [line for line in page.text.splitlines() if line.strip()]
    return replace(page, rows=[[Segment(line, NOWHERE)] for line in lines])


def shown(row: Row) -> str:
    """Return a row as a model sees it: its text, as far as it is Unicode."""
    text: str = mended(row_text(row))
    return text


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pages, or one part of a page, that are read in one call; the name is unique in a document."""

    name: str
    pages: list[Page]

    @classmethod
    def of(cls, pages: list[Page]) -> "Chunk":
        """Name a chunk for its first and last page."""
        first, last = pages[0].number, pages[-1].number
        return cls(f"{first}" if first == last else f"{first}-{last}", pages)

    @property
    def spoken(self) -> str:
        """The chunk in words: page 3, pages 3 to 9, page 7 (part 2.1)."""
        pages, _, part = self.name.partition(".")
        first, _, last = pages.partition("-")
        words = f"pages {first} to {last}" if last else f"page {first}"
        return f"{words} (part {part})" if part else words

    def tokens(self) -> int:
        """Return about how many tokens its text takes."""
        return sum(map(tokens_of, self.pages))

    def text(self) -> str:
        """Return the text of all pages."""
        return "\n".join(shown(row) for page in self.pages for row in page.rows)

    def fenced(self, fence: str) -> str:
        """Return the text between lines that hold `fence`, each page's beginning marked too."""
        pages = [
            "\n".join([f"=== {fence} page {page.number}", *map(shown, page.rows)])
            for page in self.pages
        ]
        return "\n".join([*pages, f"=== {fence} end"])

    def halves(self) -> "list[Chunk]":
        """Return the two halves of the chunk, [] when it is too small to be cut."""
        if len(self.pages) > 1:
            middle = len(self.pages) // 2
            return [Chunk.of(self.pages[:middle]), Chunk.of(self.pages[middle:])]
        page = self.pages[0]
        if len(self.text()) < SMALLEST:
            return []
        rows = page.rows if len(page.rows) > 1 else [[part] for part in _cut(page.rows[0])]
        middle = len(rows) // 2
        return [
            Chunk(f"{self.name}.{number}", [replace(page, rows=part)])
            for number, part in enumerate((rows[:middle], rows[middle:]), start=1)
        ]


def _cut(row: Row) -> list[Segment]:
    """Return the parts of one row: its segments, or the halves of its only one."""
    if len(row) > 1:
        return row
    (segment,) = row
    middle = len(segment.text) // 2
    return [replace(segment, text=part) for part in (segment.text[:middle], segment.text[middle:])]


class Cutter:
    """Gather pages until no more fit into `tokens`; a page that is too large alone is cut."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self._pages: list[Page] = []
        self._held = 0

    def chunks(self, pages: Iterable[Page]) -> Iterator[Chunk]:
        """Yield the chunks of the pages, which are taken as they are needed."""
        for page in pages:
            yield from self._add(page)
        yield from self._rest()

    def _add(self, page: Page) -> list[Chunk]:
        """Take the next page, and return the chunks that are complete."""
        size = tokens_of(page)
        full = self._rest() if self._held + size > self.tokens else []
        if size > self.tokens:
            return [*full, *self._fitting(Chunk.of([page]))]
        self._pages.append(page)
        self._held += size
        return full

    def _rest(self) -> list[Chunk]:
        """Return what is still held, in one chunk or none."""
        pages, self._pages, self._held = self._pages, [], 0
        return [Chunk.of(pages)] if pages else []

    def _fitting(self, chunk: Chunk) -> list[Chunk]:
        halves = chunk.halves() if chunk.tokens() > self.tokens else []
        return [part for half in halves for part in self._fitting(half)] or [chunk]


def tokens_of(page: Page) -> int:
    """Return about how many tokens the page takes in a prompt."""
    return TextSize.of("\n".join(map(shown, page.rows))).tokens()
