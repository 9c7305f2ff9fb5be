"""Find the value that belongs to a label: after it, to its right, or below it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

from forebay_agents.pages import Page, Segment
from forebay_agents.rules import currencies
from forebay_agents.rules.amounts import DecimalMark, amounts, decimal_mark
from forebay_agents.rules.columns import names_columns
from forebay_agents.rules.labels import Label
from forebay_agents.rules.readable import readable
from forebay_agents.rules.spots import (
    Spot,
    is_broken,
    is_remark,
    rest_of,
    spots_of,
    stacked,
)

How = Literal["within", "right", "below"]

REACH = 3.2
"""How far below a label its value may begin, in heights of the label."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A text that may hold the value of a label, and where it stands in regard to it."""

    text: str
    spot: Spot
    how: How
    label: Label
    asked: Spot

    @property
    def words(self) -> str:
        """The label and the text as they stand on the page."""
        return self.spot.text if self.how == "within" else f"{self.asked.text} {self.spot.text}"


@dataclass
class Document:
    """The pages of a document in normal form."""

    pages: Sequence[Page]
    sheets: list[list[list[Spot]]] = field(init=False)

    def __post_init__(self) -> None:
        self.sheets = [
            [spots_of(row, page, index) for index, row in enumerate(readable(page))]
            for page in self.pages
        ]

    @cached_property
    def spots(self) -> list[Spot]:
        """All spots, in reading order."""
        return [spot for sheet in self.sheets for row in sheet for spot in row]

    @cached_property
    def first(self) -> list[Spot]:
        """The spots of the first page that has any."""
        return [spot for spot in self.spots if spot.page == self.spots[0].page]

    @cached_property
    def text(self) -> str:
        """All that is said, a spot a line."""
        return "\n".join(spot.text for spot in self.spots)

    @cached_property
    def mark(self) -> DecimalMark | None:
        """The mark before cents."""
        return decimal_mark(spot.text for spot in self.spots)

    @cached_property
    def is_whole(self) -> bool:
        """Tell whether the document has sums, but none with cents, as those in yen are."""
        found = [amount for spot in self.spots for amount in amounts(spot.text)]
        return not any(amount.has_decimals() for amount in found)

    @cached_property
    def codes(self) -> set[str]:
        """The currency codes that the document names."""
        return set(re.findall(r"(?<![A-Z])[A-Z]{3}(?![A-Z])", self.text)) & currencies.codes()

    @cached_property
    def size(self) -> float:
        """The usual height of its text, in points."""
        heights = sorted(spot.height for spot in self.spots)
        return heights[len(heights) // 2] if heights else 10.0

    def page(self, spot: Spot) -> Page:
        """Return the page that a spot stands on."""
        return next(page for page in self.pages if page.number == spot.page)

    def sheet(self, spot: Spot) -> list[list[Spot]]:
        """Return the rows of the page that a spot stands on."""
        for page, sheet in zip(self.pages, self.sheets, strict=True):
            if page.number == spot.page:
                return sheet
        return []

    def row(self, spot: Spot) -> list[Spot]:
        """Return the row that a spot stands in."""
        return self.sheet(spot)[spot.row]

    def questions(self, group: str, *names: str) -> Iterator[tuple[Spot, Label]]:
        """Yield each leading label with one of these meanings, and its spot."""
        for spot in (*self.spots, *self.stacked):
            for label in spot.labels:
                if label.leads and label.means(group, *names):
                    yield spot, label

    @cached_property
    def stacked(self) -> list[Spot]:
        """The labels that are broken over two rows, each as one spot in the lower row."""
        return [
            both
            for sheet in self.sheets
            for row, next_row in pairwise(sheet)
            for upper in row
            if is_broken(row, upper)
            for lower in next_row
            if (both := stacked(upper, lower)) is not None
        ]

    def answers(self, group: str, *names: str) -> Iterator[list[Answer]]:
        """Yield, for each label with one of these meanings, what may answer it, best first."""
        for spot, label in self.questions(group, *names):
            yield self.answers_to(spot, label)

    def answers_to(self, spot: Spot, label: Label) -> list[Answer]:
        """Return what may answer a label: the rest of its spot, else what is right, then below."""
        rest = rest_of(spot, label)
        if rest and not is_remark(rest):
            return [Answer(rest, spot, "within", label, spot)]
        found = [Answer(each.text, each, "right", label, spot) for each in self._right(spot)]
        if not self.is_head(self.row(spot)):
            found += [Answer(each.text, each, "below", label, spot) for each in self.below(spot)]
        found += [Answer(each.text, each, "right", label, spot) for each in self.level(spot)]
        return found

    def after(self, spot: Spot, label: Label) -> list[tuple[str, Spot]]:
        """Return all texts after a label in its row, up to the next label, with their spots."""
        rest = rest_of(spot, label)
        right = [(each.text, each) for each in self._right(spot)]
        return [(rest, spot), *right] if rest else right

    def below(self, spot: Spot) -> list[Spot]:
        """Return the spots of the next row under `spot`, if near; none when they are labels."""
        for row in self.sheet(spot)[spot.row + 1 : spot.row + 4]:
            under = [each for each in row if spot.is_over(each)] or self._in_cell(spot, row)
            if not under:
                continue
            if under[0].box[1] - spot.box[3] > REACH * spot.height:
                return []
            return [] if any(each.begins_with_label() for each in under) else under
        return []

    def level(self, spot: Spot) -> list[Spot]:
        """Return the spots to the right in the rows just above and below, the nearest first.

        Cells are centred, and scans are slanted, so that a value may stand a little off its label.
        """
        middle = (spot.box[1] + spot.box[3]) / 2
        rows = self.sheet(spot)[max(spot.row - 1, 0) : spot.row + 2]
        near = [
            (abs((each.box[1] + each.box[3]) / 2 - middle), each)
            for row in rows
            for each in row
            if each.row != spot.row and each.box[0] > spot.box[2]
        ]
        return [each for off, each in sorted(near, key=lambda pair: pair[0]) if off <= spot.height]

    def _in_cell(self, head: Spot, row: Sequence[Spot]) -> list[Spot]:
        """Return the spot of a row of values that stands in the column of a head, if only apart.

        Numbers stand right in their columns and heads left or in the middle.
        """
        heads = self.row(head)
        if head.rows > 1 or len(heads) < 3 or len(row) < 2:
            return []
        if len(heads) == len(row):
            return [row[head.column]]
        left = heads[head.column - 1].box[2] if head.column else 0.0
        right = heads[head.column + 1].box[0] if head.column + 1 < len(heads) else head.box[2] + 90
        return [each for each in row if left < each.box[0] and each.box[2] < right + 2][-1:]

    def is_head(self, row: Sequence[Spot]) -> bool:
        """Tell whether a row holds the heads of a table of items, or goes on with them."""
        if not row:
            return False
        above = self.sheet(row[0])[max(row[0].row - 2, 0) : row[0].row]
        is_near = [
            each for each in above if each and row[0].box[1] - each[0].box[3] < 2 * row[0].height
        ]
        return _holds_heads(row) or (
            not any(re.search(r"\d", spot.text) for spot in row) and any(map(_holds_heads, is_near))
        )

    def is_below_items(self, spot: Spot) -> bool:
        """Tell whether the head of a table of items stands above a spot on its page."""
        heads = self.items.get(spot.page)
        return heads is not None and spot.row > heads

    @cached_property
    def items(self) -> dict[int, int]:
        """The first row on each page that heads a table of items."""
        found: dict[int, int] = {}
        for page, sheet in zip(self.pages, self.sheets, strict=True):
            rows = (index for index, row in enumerate(sheet) if _holds_heads(row))
            first = next(rows, None)
            if first is not None:
                found[page.number] = first
        return found

    def _right(self, spot: Spot) -> list[Spot]:
        """Return the spots right of `spot`, up to the next label."""
        found = []
        for row in self.sheet(spot)[spot.row - spot.rows + 1 : spot.row + 1]:
            for each in row:
                if each.box[0] < spot.box[2] - 1 or each is spot:
                    continue
                if each.begins_with_label():
                    break
                found.append(each)
        return found


def _holds_heads(row: Sequence[Spot]) -> bool:
    """Tell whether a row names the columns of a table of items."""
    return len(row) > 1 and names_columns([Segment(spot.text, spot.box) for spot in row])
