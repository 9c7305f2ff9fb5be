"""Gather what stands on one line of a page, be it bigger, raised or printed twice."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from forebay_agents.reading.pieces import STRAY_GAP, Piece, lower_height, on_one_line

LEVEL = 0.1
"""Lines that are this close, in heights, are on the same level."""


def lines_of(runs: list[Piece]) -> list[list[Piece]]:
    """Return the runs of each line from left to right, the highest line first."""
    return [list(_once(sorted(line, key=lambda run: run.box[0]))) for line in _gathered(runs)]


def _gathered(runs: list[Piece]) -> list[list[Piece]]:
    lines: list[list[Piece]] = []
    for level in _levels(runs):
        near = [line for line in lines[-3:] if _is_beside(line, level)]
        if near:
            min(near, key=lambda line: abs(line[0].base - level[0].base)).extend(level)
        else:
            lines.append(level)
    return lines


def _levels(runs: list[Piece]) -> list[list[Piece]]:
    """Gather the runs that stand exactly level, the highest first."""
    levels: list[list[Piece]] = []
    for run in sorted(runs, key=lambda run: run.base):
        before = levels[-1][-1] if levels else None
        if before and run.base - before.base <= LEVEL * lower_height(before, run):
            levels[-1].append(run)
        else:
            levels.append([run])
    return levels


def _is_beside(line: list[Piece], level: list[Piece]) -> bool:
    """Tell whether what stands on another level belongs to a line, such as a superscript."""
    if not on_one_line(line[0], level[0]):
        return False
    marked = [(run.box[0], run.box[2], True) for run in line]
    marked += [(run.box[0], run.box[2], False) for run in level]
    marked.sort()
    return all(
        one[2] == other[2] or other[0] > one[1] - STRAY_GAP * level[0].height
        for one, other in pairwise(marked)
    )


def _once(line: Iterable[Piece]) -> Iterator[Piece]:
    """Leave out what is drawn twice, a little aside, to look bold or to throw a shadow."""
    before: list[Piece] = []
    for piece in line:
        near = 0.15 * piece.height
        if not any(
            other.texts == piece.texts and abs(other.box[0] - piece.box[0]) < near
            for other in before[-3:]
        ):
            before.append(piece)
            yield piece
