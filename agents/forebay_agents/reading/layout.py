"""Put the characters of a page back into the rows that a reader sees.

A PDF holds text in the order in which it was drawn, so that a label and its value may be far apart
in the text. Their places on the page bring them together again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

WIDE_GAP = 0.75
"""Wider gaps, in heights of the text, part segments."""

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""

Piece = tuple[Box, str]
"""Text in its place; it begins with a space if one parts it from what was drawn before."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Hold a run of text without a wide gap in it, from `left` to `right` in points."""

    text: str
    left: float
    right: float


Row = list[Segment]


def turned(box: Box, rotation: int) -> Box:
    """Return the box as seen on a page that is shown turned by `rotation` degrees.

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


def rows(characters: Iterable[Piece]) -> list[Row]:
    """Group characters, given as drawn, into rows from top to bottom, each from left to right."""
    return [
        [Segment(text.strip(), left, right) for (left, _, right, _), text in _runs(sorted(line))]
        for line in _lines(_runs(characters))
    ]


def _runs(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Join each piece to the one before it, where no wide gap parts them."""
    run: Piece | None = None
    for piece in pieces:
        joined = _joined(run, piece) if run else None
        if run and not joined:
            yield run
        run = joined or piece
    if run:
        yield run


def _joined(one: Piece, other: Piece) -> Piece | None:
    (left, bottom, right, top), text = one
    gap, height = other[0][0] - right, _height(one, other)
    if _on_one_line(one, other) and -height < gap <= WIDE_GAP * height:
        return (left, bottom, max(right, other[0][2]), top), text + other[1]
    return None


def _lines(runs: Iterable[Piece]) -> list[list[Piece]]:
    """Gather the runs of each line, the highest line first."""
    lines: list[list[Piece]] = []
    for run in sorted(runs, key=lambda run: -run[0][1]):
        line = next((line for line in lines[-3:] if _on_one_line(line[0], run)), None)
        if line is None:
            lines.append([run])
        else:
            line.append(run)
    return lines


def _on_one_line(one: Piece, other: Piece) -> bool:
    """Tell whether two pieces stand on about the same line, be one of them bigger or not."""
    return abs(one[0][1] - other[0][1]) <= 0.5 * _height(one, other)


def _height(one: Piece, other: Piece) -> float:
    """Return the smaller height of two pieces, about the size of its font."""
    return max(min(one[0][3] - one[0][1], other[0][3] - other[0][1]), 1.0)
