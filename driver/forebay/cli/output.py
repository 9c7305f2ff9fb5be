"""How a command answers: rows as one JSON document for scripts, or as a table for people."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Columns = Mapping[str, str | Callable[[Any], object]]
"""What a person sees of a row: heading to the name of an attribute, or to a function of the row."""

WIDTH_OF_A_PIPE = 160
FOR_EVER = "for ever"
NARROWEST_TEXT = 10  # a longer cell may be folded to that where there is little room
NARROWEST_NAME = 24  # one of the first column, which names the row
BETWEEN = 2  # blanks for each column, those at both edges included


def print_rows(
    rows: Sequence[object], columns: Columns, as_json: bool, without: str = "There are none."
) -> None:
    """Print all that the rows hold as a JSON array, or the columns as a table.

    A table without lines says so, on stderr.
    """
    if as_json:
        print_json(rows)
        return
    _print_whole(table(rows, columns))
    if not rows:
        note(without)


def print_row(row: object, columns: Columns, as_json: bool) -> None:
    """Print all that the row holds as a JSON object, or one `heading  value` a line.

    Headings without a value are left out; on a terminal a long value goes on below itself.
    """
    if as_json:
        print_json(row)
        return
    shown = {heading: show(_getter(column)(row)) for heading, column in columns.items()}
    indent = max(map(len, shown)) + 2
    for heading, value in shown.items():
        if value:
            lines = (
                textwrap.wrap(value, console().width - indent) if sys.stdout.isatty() else [value]
            )
            print(f"{heading:<{indent}}" + f"\n{'':<{indent}}".join(lines))


def print_json(value: object) -> None:
    """Print value: ids and amounts are numbers, times ISO 8601, durations seconds, sets lists.

    Amounts keep all of their digits: a number of JSON may have any, though a float has not.
    """
    mark = uuid4().hex  # json writes no decimals: they are texts that begin so, until they are not

    def plain(one: object) -> Any:
        is_fraction = (
            isinstance(one, Decimal) and one.is_finite() and one != one.to_integral_value()
        )
        return f"{mark}{one:f}" if is_fraction else _plain(one)

    text = json.dumps(value, default=plain, ensure_ascii=False, indent=2)
    print(re.sub(f'"{mark}([^"]*)"', r"\1", text))


def note(text: str) -> None:
    """Tell the person something on stderr, which scripts do not read."""
    print(show(text), file=sys.stderr, flush=True)


def show(value: object) -> str:
    """Return value as a person reads it: local time, and no character that moves a terminal."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        if value.year == datetime.max.year:  # infinity
            return FOR_EVER
        return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return "".join(c if c.isprintable() else "\ufffd" for c in str(value))


def console(*, stderr: bool = False) -> Console:
    """Return a rich console. A pipe has no width of its own: tables there are wide."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH_OF_A_PIPE)


def table(rows: Sequence[object], columns: Columns) -> Table:
    """Return a table without markup, for this console: what stands in its cells is data."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    getters = [_getter(column) for column in columns.values()]
    cells = [[get(row) for get in getters] for row in rows]
    shown = [[show(value) for value in row] for row in cells]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    widths = _widths([[heading, *texts] for heading, *texts in zip(columns, *shown, strict=True)])
    for number, heading in enumerate(columns):
        is_text = any(isinstance(row[number], str | datetime) for row in cells)
        made.add_column(
            heading,
            justify="left" if is_text else "right",
            overflow="fold",
            width=widths[number],
        )
    for row in shown:
        made.add_row(*map(Text, row))
    return made


def filled(rows: Sequence[object], columns: Columns) -> Columns:
    """Return the columns that hold something in any of the rows; all of them without a row."""
    return {
        heading: column
        for heading, column in columns.items()
        if not rows or any(show(_getter(column)(row)) for row in rows)
    }


def _print_whole(made: Table) -> None:
    """Print a table as wide as it has to be: rich leaves out what a narrow terminal cannot show."""
    from rich.measure import Measurement

    printer = console()
    unbounded = printer.options.update(width=sys.maxsize)
    printer.width = max(printer.width, Measurement.get(printer, unbounded, made).minimum)
    printer.print(made, crop=False)


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return how wide columns are: their texts go on below where the console is too narrow.

    A word, such as an id or a name, is broken only where it is too narrow for whole words.
    """
    from rich.cells import cell_len

    room = console().width - BETWEEN * len(columns)
    whole = [max(map(cell_len, texts)) for texts in columns]
    words = [max(map(cell_len, " ".join(texts).split()), default=0) for texts in columns]
    widths = words if sum(words) <= room else _broken(columns, whole)
    left = room - sum(widths)
    by_need = sorted(range(len(columns)), key=lambda number: whole[number] - widths[number])
    for place, number in enumerate(by_need):
        share = max(0, left // (len(columns) - place))
        more = min(whole[number] - widths[number], share)
        widths[number] += more
        left -= more
    return widths


def _broken(columns: Sequence[Sequence[str]], whole: Sequence[int]) -> list[int]:
    """Return how narrow columns may be, where even words have to be broken."""
    least = [NARROWEST_NAME, *[NARROWEST_TEXT] * (len(columns) - 1)]
    return [
        max(min(widest, narrow), *map(len, heading.split()))
        for (heading, *_), widest, narrow in zip(columns, whole, least, strict=True)
    ]


def _getter(column: str | Callable[[Any], object]) -> Callable[[Any], object]:
    return attrgetter(column) if isinstance(column, str) else column


def _is_fraction(value: object) -> bool:
    if not isinstance(value, Decimal) or not value.is_finite():
        return False
    return value != value.to_integral_value()


def _plain(value: object) -> Any:
    """Return what JSON has for a value that it does not know."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() else str(value)
    return str(value)
