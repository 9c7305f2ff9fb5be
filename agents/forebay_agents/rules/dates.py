"""Read dates as people write them; what could be two days is kept as two."""

import re
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal

from forebay_agents.languages import SPACED
from forebay_agents.rules.text import fold

Order = Literal["day", "month", "year"]
"""What comes first in a date of three plain numbers."""

ERAS = {"令和": 2018, "R": 2018, "平成": 1988, "H": 1988, "昭和": 1925, "S": 1925}
OTHER_MONTHS = {
    **{"maerz": 3, "mrz": 3, "marz": 3, "fev": 2, "fevr": 2, "sept": 9, "set": 9, "juil": 7},
    **{"janner": 1, "jaenner": 1, "okt": 10, "dez": 12, "aout": 8, "augustus": 8},
}
SHORT_YEARS = range(20, 40)
"""Two digits that may be a year before month and day: 26/03/04."""

_MONTH = r"(?P<{}>[^\W\d_]{{3,10}})\.?"
_ORDINAL = r"(?:st|nd|rd|th|er|ère|º|ª|°|o|a|\.)?"
_OF = r"(?:\s?(?:(?:days? of|de|of|di)(?=\s)|d'))?"
_DATES = re.compile(
    r"(?<![\d.,/-])(?<!\d[./-]\s)(?:"
    r"(?P<y1>(?:19|20)\d\d)(?P<mark1>[-/.])\s?(?P<m1>\d{1,2})(?P=mark1)\s?(?P<d1>\d{1,2})"
    r"|(?P<era>令和|平成|昭和|(?<![A-Za-z])[RHS])\s?(?P<y2>\d{1,2}|元)\s?(?:年|[./-])\s?(?P<m2>\d{1,2})\s?"
    r"(?:月|[./-])\s?(?P<d2>\d{1,2})\s?日?"
    r"|(?P<y3>\d{4}|\d{2})\s?年\s?(?P<m3>\d{1,2})\s?月\s?(?:(?P<d3>\d{1,2})\s?日|(?P<last>末日?))"
    rf"|(?P<d4>\d{{1,2}}){_ORDINAL}{_OF}[\s./-]*{_MONTH.format('m4')}[,\s./-]*"
    r"(?:(?:de|del|of)\s+)?'?(?P<y4>\d{4}|\d{2})"
    rf"|{_MONTH.format('m5')}[\s-]*(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?[,\s-]+(?P<y5>\d{{4}})"
    rf"|(?P<y6>\d{{4}})[\s-]{_MONTH.format('m6')}[\s-](?P<d6>\d{{1,2}})"
    r"|(?P<a>\d{1,2})(?P<mark>\s?[./-]\s?)(?P<b>\d{1,2})(?P=mark)(?P<y7>\d{4}|\d{2})"
    r"|(?P<y8>20\d\d)(?P<m8>0[1-9]|1[0-2])(?P<d8>0[1-9]|[12]\d|3[01])"
    r")(?!\d|[.,/-]\d)(?<!\d\d\d\d\d\d\d\d\d)"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A date in a text; `meanings` gives the day for each order in which it makes sense."""

    start: int
    end: int
    meanings: dict[Order, date]
    is_compact: bool = False

    @property
    def is_plain(self) -> bool:
        """Tell whether it means one day only."""
        return len(set(self.meanings.values())) == 1

    def day(self, order: Order | None) -> date | None:
        """Return the day that is meant; None when that depends on an order nobody told."""
        if self.is_plain:
            return next(iter(self.meanings.values()))
        return self.meanings.get(order) if order else None


def readings(text: str) -> Iterator[Reading]:
    """Yield the dates in `text` (in normal form), in order."""
    position = 0
    while match := _DATES.search(text, position):
        meanings = _meanings(match.groupdict())
        if meanings:
            yield Reading(*match.span(), meanings, is_compact=match["y8"] is not None)
        position = match.end() if meanings else match.start() + 1


@cache
def months() -> dict[str, int]:
    """Return the number of each month by its names, folded, in all languages."""
    from babel import Locale

    found = dict(OTHER_MONTHS)
    for locale in map(Locale.parse, SPACED):
        for context in locale.months.values():
            for width in ("wide", "abbreviated"):
                for number, name in context.get(width, {}).items():
                    found[fold(name).strip(".")] = number
    return found


def _meanings(part: dict[str, str | None]) -> dict[Order, date]:
    for number, order in (
        ("1", "year"),
        ("8", "year"),
        ("4", "day"),
        ("5", "month"),
        ("6", "year"),
    ):
        year, month, day = (part.get(f"{field}{number}") for field in "ymd")
        if year and month and day:
            return _one(order, _year(year), _month(month), int(day))  # type: ignore[arg-type]
    if part["y2"] and part["m2"] and part["d2"] and part["era"]:
        since = 1 if part["y2"] == "元" else int(part["y2"])
        return _one("year", since + ERAS[part["era"]], int(part["m2"]), int(part["d2"]))
    if part["y3"] and part["m3"]:
        return _until(_year(part["y3"]), int(part["m3"]), part["d3"])
    if part["a"] and part["b"] and part["y7"] and part["mark"]:
        return _numeric(int(part["a"]), int(part["b"]), part["y7"], part["mark"].strip())
    return {}


def _until(year: int, month: int, day: str | None) -> dict[Order, date]:
    """Read a day of a month, or without one the month's last: 2026年5月末日."""
    if not 1 <= month <= 12:
        return {}
    return _one("year", year, month, int(day) if day else monthrange(year, month)[1])


def _numeric(first: int, second: int, last: str, mark: str) -> dict[Order, date]:
    """Read three numbers; with points between them the day comes first."""
    found = _one("day", _year(last), second, first)
    if mark == "." and found:
        return found
    found |= _one("month", _year(last), first, second)
    if len(last) == 2 and first in SHORT_YEARS:
        found |= _one("year", 2000 + first, second, int(last))
    return found


def _one(order: Order, year: int, month: int, day: int) -> dict[Order, date]:
    with suppress(ValueError):
        if 1950 <= year <= 2100:
            return {order: date(year, month, day)}
    return {}


def _year(text: str) -> int:
    return int(text) + (2000 if len(text) == 2 else 0)


def _month(text: str) -> int:
    """Return a month's number; 0, which is none, for a word that names no month."""
    return int(text) if text.isdigit() else months().get(fold(text).strip("."), 0)
