"""Read the cells of a row: numbers with their signs, units and rates, dates, and words."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from forebay_agents.pages import Segment
from forebay_agents.rules import currencies
from forebay_agents.rules.amounts import DIGITS, Amount, DecimalMark
from forebay_agents.rules.columns import place
from forebay_agents.rules.dates import months
from forebay_agents.rules.text import fold, normal

_UNIT = r"[^\W\d_]{1,9}[.²³\d]?"
"""What may stand behind a quantity: 3 Stk, 2 h, 3 式."""

_RADICAL = re.compile(r"[\u2e80-\u2fdf\uf900-\ufaff]")
"""Fonts give some Japanese characters by the code of a radical that looks the same."""

_RAND = r"R(?=\s?\d[\d ,.]*[.,]\d\d(?!\d))"
"""A currency of one letter, which is one only before cents."""

_SHORT = re.compile(r"^([\d.,]*\d)([^\W\d_]{1,4}[.²³\d]?)$")
"""A quantity with its unit close behind it: 3x, 80g."""

_MARKS = r"[A-Z]?[ *]{0,2}"
"""What may stand behind an amount on a receipt: a letter for the tax rate, a star."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a place of a row; `unit` is what stands behind its number, "%" of a rate."""

    text: str
    left: float
    right: float
    number: Decimal | None = None
    unit: str = ""

    @property
    def is_rate(self) -> bool:
        """Tell a percentage."""
        return self.unit == "%"

    @property
    def is_date(self) -> bool:
        """Tell a text that can be a day."""
        return _date().fullmatch(fold(self.text)) is not None


def cells(segment: Segment, mark: DecimalMark | None) -> list[Cell]:
    """Return the cells of a segment: one, unless it is several numbers side by side."""
    text = _SHORT.sub(r"\1 \2", normal(segment.text))
    printed = shown(segment.text)
    left, _, right, _ = segment.box
    found = list(_numbers(segment, text, mark))
    if found and not re.search(r"\w", _between(text, found)):
        return [cell for cell, _, _ in found]
    if len(found) == 1 and found[0][1] == 0 and not found[0][0].is_rate:
        cell, _, end = found[0]
        if re.fullmatch(rf"\s?(?:{currencies.pattern()}?\s?/?{_UNIT}|{_MARKS})", text[end:]):
            return [Cell(printed, left, right, cell.number, text[end:].strip())]
    return [Cell(printed, left, right)]


def shown(text: str) -> str:
    """Return `text` as it looks: single spaces, and characters for the radicals like them."""
    plain = re.sub(r"\s*・\s*", "・", " ".join(text.split()))
    return _RADICAL.sub(lambda match: unicodedata.normalize("NFKC", match[0]), plain)


def numbers_in(text: str, mark: DecimalMark | None) -> list[Decimal]:
    """Return all numbers in `text`, whatever stands beside them, but no rates."""
    found = _numbers(Segment(text, (0, 0, 1, 1)), normal(text), mark)
    return [cell.number for cell, _, _ in found if cell.number is not None and not cell.is_rate]


def parts(segment: Segment, mark: DecimalMark | None) -> list[Cell]:
    """Return the cells of a segment whose words have numbers or a date before or behind them."""
    text = normal(segment.text)
    head = re.match(rf"(?:{_date().pattern}|\S*\d\S*)(?=\s)", fold(text))
    start = head.end() if head else 0
    tail = [each for each in _numbers(segment, text, mark) if each[1] >= start]
    while tail and re.search(r"\w", _between(text[tail[0][1] :], _moved(tail, tail[0][1]))):
        tail = tail[1:]
    end = tail[0][1] if tail else len(text)
    middle = [_cell(segment, text, start, end, mark)] if text[start:end].strip() else []
    lead = [_cell(segment, text, 0, start, mark)] if head else []
    return [*lead, *middle, *(cell for cell, _, _ in tail)]


def _cell(segment: Segment, text: str, start: int, end: int, mark: DecimalMark | None) -> Cell:
    start += len(text[start:end]) - len(text[start:end].lstrip())
    inner = text[start:end].rstrip()
    box = (
        place(segment, text, start),
        segment.box[1],
        place(segment, text, start + len(inner)),
        segment.box[3],
    )
    (first, *others) = cells(Segment(inner, box), mark)
    return Cell(inner, box[0], box[2]) if others else first


def _numbers(
    segment: Segment, text: str, mark: DecimalMark | None
) -> Iterator[tuple[Cell, int, int]]:
    """Yield the numbers in `text`, each with its place there."""
    for match in _number().finditer(text):
        is_dashed = bool(match["behind"]) and not re.search(r"[¥円]", match[0])
        is_negative = bool(match["minus"] or match["inner"] or is_dashed)
        is_negative |= bool(match["open"] and match["close"])
        amount = Amount(match["digits"], is_negative, None, *match.span())
        left, right = (place(segment, text, index) for index in match.span())
        unit = "%" if match["rate"] else ""
        yield Cell(match[0].strip(), left, right, amount.value(mark), unit), *match.span()


def _between(text: str, found: list[tuple[Cell, int, int]]) -> str:
    """Return what `text` says beside the numbers found in it."""
    rest = list(text)
    for _, start, end in found:
        rest[start:end] = " " * (end - start)
    return re.sub(currencies.pattern(), " ", "".join(rest))


def _moved(found: list[tuple[Cell, int, int]], by: int) -> list[tuple[Cell, int, int]]:
    return [(cell, start - by, end - by) for cell, start, end in found]


@cache
def _date() -> re.Pattern[str]:
    """Return a pattern for days as they stand in columns, often without the year.

    A time or a short code may stand behind.
    """
    names = "|".join(sorted(map(re.escape, months()), key=len, reverse=True))
    return re.compile(
        r"\d{1,4}[./-]\d{1,2}(?:[./-]\d{2,4}|[./-])?(?: \d{1,4}[a-z]?| \d\d?:\d\d)?"
        rf"|\d{{1,2}}\.?[ -]?(?:{names})\.?(?:[ -]?\d{{2,4}})?"
        rf"|(?:{names})\.? \d{{1,2}}(?:,? \d{{4}})?"
        r"|(?:\S{0,4}年)?\s?\d{1,2}月\s?\d{1,2}日"
    )


@cache
def _number() -> re.Pattern[str]:
    money = currencies.pattern()
    return re.compile(
        rf"(?<![\w.,/])(?P<open>\()?\s?(?P<minus>[-–▲△]\s?)?(?:(?:{money}|{_RAND})\s?)?"
        rf"(?P<inner>-\s?)?(?P<digits>{DIGITS})(?:[.,][-–—]{{1,2}})?(?:\s?(?:{money}))?"
        rf"(?P<rate>\s?%)?(?P<close>\s?\))?(?P<behind>\s?-(?!\s?\w))?(?![\w/])(?![.,:-]\w)"
    )
