"""Find the ruled tables of a page: cells that lines enclose, and the words in them.

They are found here and not by pdfplumber, which would read each page a second time, with another
parser, and so make reading 2.67 / 2.81 / 2.90 times as long (least, median and most of three runs
of `python bench/tables.py 3`); a test compares the tables of both.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from forebay_agents.pages import Box, Point, Row, Table, contains, middle, rounded
from forebay_agents.reading.drawings import Ruling

LINE_REACH = 3.0
"""Points within which two lines are one, and within which a line reaches another."""

SQUARES = 40_000
"""How many squares the lines of a page may part it into: more is a drawing, and holds no table."""

Square = tuple[int, int]
"""A place in the grid of all lines: its column and its row."""


def tables(upright: list[Ruling], level: list[Ruling], rows: list[Row]) -> list[Table]:
    """Return the tables with two rows and two columns or more, from the top downwards.

    A cell that spans several places of its table has its text in the first, at the top left. Rows
    and columns without any text are left out.
    """
    grid = _Grid(upright, level)
    found = (_table(cells, rows) for cells in _neighbours(grid.cells()))
    return sorted(filter(None, found), key=lambda table: (table.box[1], table.box[0]))


class _Grid:
    """Part the page along all of its lines, and tell which of the parts a line parts."""

    def __init__(self, upright: list[Ruling], level: list[Ruling]) -> None:
        self.xs, walls = _merged(upright)
        self.ys, floors = _merged(level)
        if len(self.xs) * len(self.ys) > SQUARES:
            self.xs, self.ys = [], []
        self._walls = [self._drawn(walls[x], self.ys) for x in self.xs]
        self._floors = [self._drawn(floors[y], self.xs) for y in self.ys]

    @staticmethod
    def _drawn(lines: list[tuple[float, float]], stops: list[float]) -> list[bool]:
        """Tell for each stretch between two stops whether the lines cover it."""
        return [
            any(start <= one + LINE_REACH and other - LINE_REACH <= end for start, end in lines)
            for one, other in pairwise(stops)
        ]

    def cells(self) -> list[Box]:
        """Return each rectangle that lines enclose and no line parts."""
        columns, rows = range(len(self.xs) - 1), range(len(self.ys) - 1)
        squares = {(column, row) for column in columns for row in rows}
        found = []
        for column, row in sorted(squares):
            cell = self._reach(column, row) if (column, row) in squares else None
            if cell is not None and cell <= squares and self._is_enclosed(cell):
                right, bottom = max(cell)
                box = (self.xs[column], self.ys[row], self.xs[right + 1], self.ys[bottom + 1])
                found.append(box)
                squares -= cell
        return found

    def _reach(self, column: int, row: int) -> set[Square] | None:
        """Return the squares from here to the next wall and floor; None where there is none."""
        right, bottom = column, row
        while not self._walls[right + 1][row]:
            right += 1
            if right + 1 >= len(self.xs):
                return None
        while not self._floors[bottom + 1][column]:
            bottom += 1
            if bottom + 1 >= len(self.ys):
                return None
        return {(x, y) for x in range(column, right + 1) for y in range(row, bottom + 1)}

    def _is_enclosed(self, cell: set[Square]) -> bool:
        (left, top), (right, bottom) = min(cell), max(cell)
        rows, columns = range(top, bottom + 1), range(left, right + 1)
        return all(self._walls[left][y] and self._walls[right + 1][y] for y in rows) and all(
            self._floors[top][x] and self._floors[bottom + 1][x] for x in columns
        )


def _merged(rulings: list[Ruling]) -> tuple[list[float], dict[float, list[tuple[float, float]]]]:
    """Return the places of lines, those close together as one, and the stretches they cover."""
    places: list[float] = []
    lines: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for ruling in sorted(rulings, key=lambda ruling: ruling.at):
        if not places or ruling.at - places[-1] > LINE_REACH:
            places.append(ruling.at)
        lines[places[-1]].append((ruling.start, ruling.end))
    return places, {place: list(_joined(sorted(found))) for place, found in lines.items()}


def _joined(stretches: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    start, end = stretches[0]
    for next_start, next_end in stretches[1:]:
        if next_start > end + LINE_REACH:
            yield start, end
            start, end = next_start, next_end
        end = max(end, next_end)
    yield start, end


def _neighbours(cells: list[Box]) -> list[list[Box]]:
    """Gather the cells that touch at a corner, directly or by way of others."""
    corners: dict[tuple[float, float], list[int]] = defaultdict(list)
    for index, (left, top, right, bottom) in enumerate(cells):
        for corner in ((left, top), (left, bottom), (right, top), (right, bottom)):
            corners[corner].append(index)
    left_over, groups = set(range(len(cells))), []
    while left_over:
        group, waiting = [], [left_over.pop()]
        while waiting:
            index = waiting.pop()
            group.append(cells[index])
            left, top, right, bottom = cells[index]
            for corner in ((left, top), (left, bottom), (right, top), (right, bottom)):
                near = left_over.intersection(corners[corner])
                left_over -= near
                waiting += near
        groups.append(group)
    return groups


def _table(cells: list[Box], rows: list[Row]) -> Table | None:
    xs, ys = sorted({cell[0] for cell in cells}), sorted({cell[1] for cell in cells})
    box = (xs[0], ys[0], max(cell[2] for cell in cells), max(cell[3] for cell in cells))
    words = [[(middle(segment.box), segment.text) for segment in row] for row in rows]
    inside = [[word for word in row if contains(box, word[0])] for row in words]
    texts = [[""] * len(xs) for _ in ys]
    for cell in cells:
        texts[bisect_left(ys, cell[1])][bisect_left(xs, cell[0])] = _text(cell, inside)
    kept = [column for column in range(len(xs)) if any(line[column] for line in texts)]
    filled = [[line[column] for column in kept] for line in texts if any(line)]
    return Table(filled, rounded(box)) if len(filled) > 1 and len(kept) > 1 else None


def _text(cell: Box, rows: Iterable[list[tuple[Point, str]]]) -> str:
    lines = (" ".join(text for place, text in row if contains(cell, place)) for row in rows)
    return "\n".join(filter(None, lines))
