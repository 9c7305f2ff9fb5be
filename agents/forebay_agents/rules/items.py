"""Make line items of the rows of a table: which words are the description, and the numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from forebay_agents.findings import Line
from forebay_agents.rules.cells import Cell, shown
from forebay_agents.rules.figures import counted
from forebay_agents.rules.fit import Fit

_UNFINISHED = re.compile(
    r"(?:[,/&-]|\b(?:and|or|of|for|with|und|oder|mit|für|von|et|ou|de|du|des|à|pour|avec|y|o|del|con"
    r"|para|e|di|da|per|do|com|en|of|met|van|voor))$"
)
_GOES_ON = re.compile(r"(?!in[ck]l)[^\W\d_A-ZÀ-Þ\u3040-\u9fff]")


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a description in one row of the page, and where they stand."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """The height of the words, in points."""
        return max(self.bottom - self.top, 1.0)

    def begins_at(self) -> float:
        """Return the width of the first word, in points."""
        first = re.match(r"\S*", self.text)
        size = len(first[0]) if first else 0
        return (self.right - self.left) * size / max(len(self.text), 1)


@dataclass(slots=True)
class Item:
    """A line item while its table is read: rows of words, and its numbers."""

    page: int
    words: list[Words]
    quantity: Decimal | None = None
    price: Decimal | None = None
    amount: Decimal | None = None

    def line(self, full: float, unfinished: float) -> Line:
        """Return the line, with the words that belong to its description: see `joined`."""
        text = joined(self.words, full, unfinished)
        return line(text, self.quantity, self.price, self.amount, self.page)


def joined(words: Sequence[Words], full: float, unfinished: float) -> str:
    """Join the rows of a description that were broken because they were full.

    A row was full when the next word would have reached beyond `full`, or beyond `unfinished` where
    the sentence goes on. What follows a row that was not full is a remark, no part of it.
    """
    texts = [words[0].text] if words else []
    for above, below in pairwise(words):
        reach = above.right + above.height / 4 + below.begins_at()
        goes_on = _UNFINISHED.search(above.text) or _GOES_ON.match(below.text)
        if reach <= (unfinished if goes_on else full):
            break
        texts.append(below.text)
    return " ".join(texts)


def line(
    text: str,
    quantity: Decimal | None,
    price: Decimal | None,
    amount: Decimal | None,
    page: int,
) -> Line:
    """Return a line; words that begin with the quantity lose it when nothing else tells it."""
    said, words = counted(text, price, amount) if quantity is None else (quantity, text)
    words = re.sub(r"^[x×]\s", "", words)
    return Line(words, _text(said), _text(price), _text(amount), page)


def _text(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:f}"


def with_counts(lines: list[Line]) -> list[Line]:
    """Return the lines with the number that all their descriptions begin with as quantity."""
    counts = [re.fullmatch(r"(\d{1,4}) (?=[^\W\d_])(.+)", line.description) for line in lines]
    if any(line.quantity is None and not count for line, count in zip(lines, counts, strict=True)):
        return lines
    return [
        replace(line, quantity=count[1], description=count[2])
        if count and line.quantity is None
        else line
        for line, count in zip(lines, counts, strict=True)
    ]


def words_of(cells: Sequence[Cell], top: float, bottom: float) -> Iterator[Words]:
    """Yield the words of a description as one run; none when there are none."""
    if cells:
        text = shown(" ".join(cell.text for cell in cells))
        yield Words(text, cells[0].left, top, cells[-1].right, bottom)


def description(found: Fit) -> list[Cell]:
    """Return the cells of the description, without what stands beside the table, on its left."""
    for column, cells in found.of.items():
        if column.concept == "description":
            under = (place for place, cell in enumerate(cells) if cell.right > column.left)
            return cells[next(under, 0) :]
    return []
