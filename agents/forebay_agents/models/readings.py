"""Every way in which a quote may be read, by the rules' view, and whether a value is among them.

Rules choose one reading; a model has chosen, and its choice must be among these.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation

from forebay_agents.findings import AMOUNTS, DATES, Name
from forebay_agents.models.evidence import plain, squeezed
from forebay_agents.rules import currencies, dates, labels
from forebay_agents.rules.amounts import DecimalMark, amounts
from forebay_agents.rules.text import JAPANESE, normal

MARKS: tuple[DecimalMark, ...] = (".", ",")

_GAP = re.compile(r"\n|\s{3,}")
_UNSPACED = re.compile(rf"(?<={JAPANESE.pattern})(?=[-¥]?\d)")
"""Where a number begins right behind Japanese words."""
_LATIN = r"[^\W_\u3040-\u30ff\u3400-\u9fff]"
"""A letter of a script that parts words, or a digit."""
_EDGE = rf"(?:(?<!{_LATIN})|(?!{_LATIN}))"
"""Where no word is cut in two."""
_UNIT = re.compile(r"(?<=\d)\s?[^\W\d_]+\.?")
"""Words behind a number: 2 pcs, 3 h."""


def plain_form(name: Name, value: str, quote: str) -> str | None:
    """Return a field's value in plain form, None when it does not follow from the quote."""
    if name in AMOUNTS:
        return as_printed(value, sums(quote))
    if name in DATES:
        return _day(value, quote)
    return {"kind": _kind, "currency": _currency}.get(name, _whole)(value, quote)


def _kind(value: str, quote: str) -> str | None:
    """Return the kind unless the quote names others only; a title may be one that nobody knows."""
    named = kinds(quote)
    return value if value in named or not named else None


def _whole(value: str, quote: str) -> str | None:
    """Return the value if its words stand in the quote, whole."""
    value = " ".join(value.split())
    spelled = r"\s*".join(map(re.escape, squeezed(value)))
    is_said = spelled and re.search(f"{_EDGE}{spelled}{_EDGE}", plain(quote))
    return value if is_said else None


def as_printed(value: str, printed: Mapping[Decimal, str]) -> str | None:
    """Return a number with the sign and the decimals of `sums`, None when it is not printed."""
    return next((printed[one] for one in _meant(value) if one in printed), None)


def _meant(value: str) -> list[Decimal]:
    """Return how large a number a model may mean: a plain decimal is what it was asked for."""
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        return list(sums(value))
    return [abs(number)] if number.is_finite() else []


def _day(value: str, quote: str) -> str | None:
    """Return the day in ISO form if it is one of those that the quote may state."""
    try:
        meant = {date.fromisoformat(value.strip())}
    except ValueError:
        meant = days(value)
    both = meant & days(quote)
    return both.pop().isoformat() if len(both) == 1 else None


def _currency(value: str, quote: str) -> str | None:
    """Return the code if a sign or code in the quote may stand for it."""
    code = value.strip().upper()
    return code if code in codes(quote) else None


def sums(text: str) -> dict[Decimal, str]:
    """Return the numbers in `text` by their size, as plain decimals with sign and cents as printed.

    Where a number is printed twice, 19 and 19.00, the longer form counts.
    """
    found: dict[Decimal, str] = {}
    for piece in _pieces(text):
        spaced = _UNSPACED.sub(" ", piece)
        for form in {spaced, _UNIT.sub(" ", spaced)}:
            for amount in amounts(form):
                for value in {amount.value(mark) for mark in MARKS}:
                    found[abs(value)] = max(found.get(abs(value), ""), str(value), key=len)
    return found


def days(text: str) -> set[date]:
    """Return the days that the dates in `text` may mean: 03/04/2026 may be two."""
    return {
        day
        for piece in _pieces(text)
        for reading in dates.readings(piece)
        for day in reading.meanings.values()
    }


def codes(text: str) -> set[str]:
    """Return the currencies that codes, signs and names in `text` may stand for."""
    signs = re.findall(currencies.pattern(), normal(text))
    return {code for sign in signs for code in currencies.meanings(sign)}


def kinds(text: str) -> set[str]:
    """Return the kinds of document that titles in `text` name."""
    found = [label for piece in _pieces(text) for label in labels.find_labels(piece)]
    return {name for label in found for group, name in label.meanings if group == "kind"}


def named(text: str) -> set[Name]:
    """Return the fields that labels in `text` name."""
    return {name for piece in _pieces(text) for name in labels.named(piece)}


def _pieces(text: str) -> Iterator[str]:
    """Yield the cells of `text` in normal form: numbers on both sides of a gap are two numbers."""
    yield from filter(None, map(normal, _GAP.split(text)))
