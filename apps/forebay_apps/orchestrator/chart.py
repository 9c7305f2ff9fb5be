"""What a chart is: data that a template writes out and charts.js draws, with a table beside it.

A number that is not known is None: a gap in the line, never a zero.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal

from forebay_apps.web import formats

Kind = Literal["bars", "lines", "histogram", "dots"]
Unit = Literal["tasks", "tokens", "usd", "seconds", "share"]
Value = int | Decimal | timedelta | None

WORDS: dict[Unit, Callable[[Any], str]] = {
    "tasks": formats.number,
    "tokens": formats.number,
    "usd": formats.usd,
    "seconds": formats.duration,
    "share": formats.confidence,
}


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a chart; texts are the values as a person reads them."""

    name: str
    colour: str
    values: list[float | None]
    texts: list[str]
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; labels are its x as a person reads them, links where a click on a point leads.

    note says what is left out. widths are those of bars that begin at x, in milliseconds: the first
    step may be a part of one.
    """

    key: str
    title: str
    kind: Kind
    unit: Unit
    x: list[str | float]
    labels: list[str]
    series: list[Series]
    first: str = "from (UTC)"
    note: str = ""
    links: list[str] | None = None
    widths: list[float] | None = None

    @property
    def figure(self) -> str:
        """Return what charts.js draws, as JSON."""
        shown = ("kind", "unit", "x", "series", "links", "widths")
        return json.dumps({name: value for name, value in asdict(self).items() if name in shown})

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to draw."""
        return not any(value for series in self.series for value in series.values)

    @property
    def table(self) -> list[tuple[str, str | None, list[str]]]:
        """Return label, link and texts of each point; those with nothing but zeros are left out."""
        return [
            (
                label,
                self.links[place] if self.links else None,
                [series.texts[place] for series in self.series],
            )
            for place, label in enumerate(self.labels)
            if self.links or any(series.values[place] for series in self.series)
        ]


def series_of(name: str, colour: str, unit: Unit, values: Sequence[Value]) -> Series:
    """Return a series with its values in words."""
    return Series(
        name, colour, [_plain(value) for value in values], [WORDS[unit](v) for v in values]
    )


def _plain(value: Value) -> float | None:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return None if value is None else float(value)
