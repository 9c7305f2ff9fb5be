"""What a page says: the shapes that reading hands to rules, models and results."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in points from the top left corner of the page as it is shown."""

Point = tuple[float, float]
"""From the left and from the top of the page, in points."""

Source = Literal["text", "ocr", "vision", "ai_parse", "none"]
"""Where a page's words come from: the PDF itself, OCR, a vision model, a warehouse, or nowhere."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text without a wide gap in it."""

    text: str
    box: Box


Row = list[Segment]
"""The segments of one line as seen, from left to right."""

GAP = "   "
"""What parts the segments of a row in a text: more than a space between words."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, cell by cell; an empty cell is an empty text, and all rows are equally long."""

    rows: list[list[str]]
    box: Box


@dataclass(frozen=True, slots=True)
class Page:
    """What one page says, and how well it can be read.

    `number` counts from 1; `width` and `height` are points, as shown. `rotation` tells by how many
    degrees the page is turned clockwise to be shown, so that most of its words are upright: more
    than the PDF says, where it was printed or scanned sideways. `coverage` is the share of the
    page's area that its words cover, from 0 to 1. A page is scanned when a picture fills it and
    no text of its own is visible; words may still come from OCR, then `certainty` is OCR's own,
    from 0 to 1. A page needs OCR when it shows something, but the PDF gives no words for it, and
    nothing else has read it. A page lacks a font that is neither in the PDF nor on this machine:
    letters may be missing from its words and its picture. `notes` tell in sentences what could not
    be read.
    """

    number: int
    width: float = 0.0
    height: float = 0.0
    rotation: int = 0
    text: str = ""
    rows: list[Row] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    coverage: float = 0.0
    is_scanned: bool = False
    is_broken: bool = False
    needs_ocr: bool = False
    lacks_font: bool = False
    source: Source = "text"
    certainty: float = 1.0
    notes: list[str] = field(default_factory=list)


def row_text(row: Row) -> str:
    """Return what a row says, its wide gaps still to be seen."""
    return GAP.join(segment.text for segment in row)


def union(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all of `boxes`, of which there is one at least."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def middle(box: Box) -> Point:
    """Return a box's middle."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def contains(box: Box, point: Point) -> bool:
    """Tell whether a point lies in a box, or on its edge."""
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def rounded(box: Box) -> Box:
    """Return a box to a tenth of a point: finer is no page seen."""
    left, top, right, bottom = (round(edge, 1) for edge in box)
    return left, top, right, bottom
