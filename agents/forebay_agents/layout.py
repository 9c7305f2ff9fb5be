"""Put the pieces of a page back into the rows that a reader sees.

A PDF holds text in the order in which it was drawn, so that a label and its value may be far apart
in the text. Their places on the page bring them together again.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Segment:
    """Hold a run of text without a wide gap in it; places are points from the page's left edge."""

    text: str
    left: float
    right: float


Row = list[Segment]


def turned(box: Box, rotation: int) -> Box:
    """Return (left, bottom, right, top) as seen on a page shown turned by `rotation` degrees.

    The origin is not moved: what counts is where boxes lie relative to each other.
    """
    left, bottom, right, top = box
    match rotation:
        case 90:
            return bottom, -right, top, -left
        case 180:
            return -right, -top, -left, -bottom
        case 270:
            return -top, left, -bottom, right
        case _:
            return box


def rows(pieces: Iterable[tuple[Box, str]]) -> list[Row]:
    """Group pieces of text into rows, top to bottom, each row's segments left to right."""
    lines: list[list[tuple[Box, str]]] = []
    for piece in sorted(pieces, key=lambda piece: -piece[0][1]):
        near = (line for line in reversed(lines[-4:]) if _same_row(line[0][0], piece[0]))
        line = next(near, None)
        if line is None:
            lines.append([piece])
        else:
            line.append(piece)
    joined = (_segments(line) for line in lines)
    return [row for row in joined if row]


def _same_row(one: Box, other: Box) -> bool:
    """Tell whether two boxes stand on one line: bottoms near, and half of the lower one beside."""
    height = min(_height(one), _height(other))
    overlap = min(one[1] + _height(one), other[1] + _height(other)) - max(one[1], other[1])
    return abs(one[1] - other[1]) <= 0.5 * height + 2 and overlap >= 0.5 * height


def _height(box: Box) -> float:
    """Return a box's height; text in a font that is not at hand comes with none."""
    return max(box[3] - box[1], 1.0)


def _segments(line: list[tuple[Box, str]]) -> Row:
    row: Row = []
    height = max(_height(box) for box, _ in line)
    for (left, _, right, _), text in sorted(line, key=lambda piece: piece[0][0]):
        gap = left - row[-1].right if row else 0.0
        if row and gap <= max(3.0, 0.6 * height):
            last = row.pop()
            space = " " if gap > 0.25 * height else ""
            row.append(Segment(last.text + space + text, last.left, max(last.right, right)))
        else:
            row.append(Segment(text.strip(), left, right))
    clean = (Segment(re.sub(r"\s+", " ", s.text).strip(), s.left, s.right) for s in row)
    return [segment for segment in clean if segment.text]
