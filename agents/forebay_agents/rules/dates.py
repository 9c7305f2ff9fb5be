"""Read dates as people write them; leave out those that could mean another day."""

import re
from collections.abc import Iterator
from datetime import date

MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january jan januar janvier janv",
            "february feb februar février fevrier fév",
            "march mar märz maerz mrz mars",
            "april apr avril avr",
            "may mai",
            "june jun juni juin",
            "july jul juli juillet juil",
            "august aug août aout",
            "september sep sept septembre",
            "october oct oktober okt octobre",
            "november nov novembre",
            "december dec dezember dez décembre decembre déc",
        ),
        start=1,
    )
    for name in names.split()
}
ERAS = {"令和": 2018, "平成": 1988}

_DATES = re.compile(
    r"(?<![\d.,/-])(?:"
    r"(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})"
    r"|(?P<era>令和|平成)?\s?(?P<y2>\d{1,4}|元)\s?年\s?(?P<m2>\d{1,2})\s?月\s?(?P<d2>\d{1,2})\s?日"
    r"|(?P<d3>\d{1,2})(?:st|nd|rd|th|er|\.)?[\s-]*(?:day of\s+)?"
    r"(?P<m3>[^\W\d_]{3,9})\.?,?[\s-]+(?P<y3>\d{4})"
    r"|(?P<m4>[^\W\d_]{3,9})\.?\s+(?P<d4>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y4>\d{4})"
    r"|(?P<d5>\d{1,2})\.\s?(?P<m5>\d{1,2})\.\s?(?P<y5>\d{4}|\d{2})"
    r"|(?P<a>\d{1,2})(?P<mark>[/-])(?P<b>\d{1,2})(?P=mark)(?P<y6>\d{4})"
    r")(?!\d|[./-]\d)"
)


def day_first(text: str) -> bool | None:
    """Tell the order of 03/04/2026 from the dates beside it that read one way; None if unclear."""
    orders = set()
    for match in _DATES.finditer(text):
        if match["a"]:
            first, second = int(match["a"]), int(match["b"])
            if first > 12 >= second:
                orders.add(True)
            elif second > 12 >= first:
                orders.add(False)
    return orders.pop() if len(orders) == 1 else None


def find_dates(text: str, day_first: bool | None) -> Iterator[tuple[int, date]]:
    """Yield place and value of the dates in `text`, without those that could be another day."""
    for match in _DATES.finditer(text):
        found = _date(match, day_first)
        if found is not None:
            yield match.start(), found


def _date(match: re.Match[str], day_first: bool | None) -> date | None:
    part = match.groupdict()
    try:
        if part["y1"]:
            return date(int(part["y1"]), int(part["m1"]), int(part["d1"]))
        if part["y2"]:
            year = 1 if part["y2"] == "元" else int(part["y2"])
            return date(year + ERAS.get(part["era"], 0), int(part["m2"]), int(part["d2"]))
        if part["y3"]:
            return date(int(part["y3"]), MONTHS[part["m3"].lower()], int(part["d3"]))
        if part["y4"]:
            return date(int(part["y4"]), MONTHS[part["m4"].lower()], int(part["d4"]))
        if part["y5"]:
            year = int(part["y5"]) + (2000 if len(part["y5"]) == 2 else 0)
            return date(year, int(part["m5"]), int(part["d5"]))
        return _slashed(int(part["a"]), int(part["b"]), int(part["y6"]), day_first)
    except (KeyError, ValueError):
        return None


def _slashed(first: int, second: int, year: int, day_first: bool | None) -> date | None:
    if first == second or second > 12:
        return date(year, first, second)
    if first > 12 or day_first:
        return date(year, second, first)
    return None if day_first is None else date(year, first, second)
