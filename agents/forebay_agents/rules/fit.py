"""Fit the cells of a row to the columns of its table."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forebay_agents.pages import Row
from forebay_agents.rules.amounts import DecimalMark
from forebay_agents.rules.cells import Cell, cells, parts
from forebay_agents.rules.columns import NUMERIC, Column

FARTHEST = 70.0
"""Points by which a number may miss the edges of its column's head."""

LEFT_OUT = {True: 60.0, False: 25.0}
"""What it costs to leave out a number, or other words, in points."""

REACHING = 20.0
"""What it costs when a cell reaches into another column, in points."""

SPLIT = 12.0
"""What it must spare to part the words of one segment."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The cells of a row: those of each column, those of none, and by how much they miss."""

    of: dict[Column, list[Cell]]
    outside: list[Cell]
    cost: float


def fit(row: Row, columns: Sequence[Column], mark: DecimalMark | None) -> Fit:
    """Return the best way to give the cells of `row` to `columns`, in order from left to right.

    A segment that holds a number before or behind its words is parted when that fits better.
    """
    whole = [cells(segment, mark) for segment in row]
    best = _best(whole, columns)
    for index, segment in enumerate(row):
        if len(whole[index]) == 1 and whole[index][0].number is None:
            parted = [*whole[:index], parts(segment, mark), *whole[index + 1 :]]
            other = _best(parted, columns)
            if len(parted[index]) > 1 and other.cost < best.cost - SPLIT:
                whole, best = parted, other
    return best


def _best(groups: Sequence[Sequence[Cell]], columns: Sequence[Column]) -> Fit:
    """Find the cheapest fit, cell by cell from the right: the columns' order is kept."""
    row = [cell for group in groups for cell in group]
    width = len(columns)
    ahead: list[tuple[float, tuple[int | None, ...]]] = [(0.0, ())] * (width + 1)
    for cell in reversed(row):
        costs = [_misfit(cell, column, columns) for column in columns]
        dropped = LEFT_OUT[cell.number is not None]
        here = []
        for first in range(width + 1):
            options: list[tuple[float, tuple[int | None, ...]]] = [
                (dropped + ahead[first][0], (None, *ahead[first][1]))
            ]
            for place in range(first, width):
                cost = costs[place]
                if cost is not None:
                    shared = columns[place].concept == "description"
                    rest = ahead[place if shared else place + 1]
                    options.append((cost + rest[0], (place, *rest[1])))
            here.append(min(options, key=lambda option: option[0]))
        ahead = here
    cost, places = ahead[0]
    of: dict[Column, list[Cell]] = {}
    for cell, column in zip(row, places, strict=True):
        if column is not None:
            of.setdefault(columns[column], []).append(cell)
    outside = [cell for cell, column in zip(row, places, strict=True) if column is None]
    return Fit(of, outside, cost)


def _misfit(cell: Cell, column: Column, columns: Sequence[Column]) -> float | None:
    """Return by how much a cell misses a column, and more when it reaches into others."""
    missed = misfit(cell, column)
    others = (other for other in columns if other is not column and other.concept != "unit")
    reaches = any(cell.left < (other.left + other.right) / 2 < cell.right for other in others)
    return missed if missed is None or not reaches else missed + REACHING


def misfit(cell: Cell, column: Column) -> float | None:
    """Return by how many points a cell misses a column; None when it cannot stand there."""
    edges = (
        abs(cell.left - column.left),
        abs(cell.right - column.right),
        abs(cell.left + cell.right - column.left - column.right) / 2,
    )
    apart = max(column.left - cell.right, cell.left - column.right, 0.0)
    near = min(edges)
    match column.concept:
        case "description":
            if cell.number is None:
                return min(apart, near) / 2
            return min(apart, near) / 2 + (15 if cell.unit and not cell.is_rate else 40)
        case "date":
            return near if cell.is_date and apart < FARTHEST else None
        case "position":
            return near if len(cell.text) <= 6 and apart < FARTHEST else None
        case "unit":
            is_unit = re.fullmatch(r"\D{1,12}", cell.text)
            return near if is_unit and apart < FARTHEST else None
        case "tax" if cell.number is None:
            return near if len(cell.text) <= 4 and apart < FARTHEST else None
        case concept if concept in NUMERIC:
            return near if _is_number_for(cell, column) and near < FARTHEST else None
        case _:
            return near + 5 if apart < FARTHEST else None


def _is_number_for(cell: Cell, column: Column) -> bool:
    if cell.number is None:
        return False
    if column.concept in ("discount", "tax"):
        return True
    if column.concept in ("quantity", "price"):
        return not cell.is_rate
    return not cell.is_rate and len(cell.unit) <= 3
