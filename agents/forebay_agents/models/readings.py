"""Every way in which a quote may be read, by the rules' view.

Rules choose one reading; a model has chosen, and its choice must be among these.
"""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from forebay_agents.findings import Name
from forebay_agents.rules import currencies, dates, labels
from forebay_agents.rules.amounts import DecimalMark, amounts
from forebay_agents.rules.text import JAPANESE, normal

MARKS: tuple[DecimalMark, ...] = (".", ",")

_GAP = re.compile(r"\n|\s{3,}")
_UNSPACED = re.compile(rf"(?<={JAPANESE.pattern})(?=[-¥]?\d)")
"""Where a number begins right behind Japanese words."""
_UNIT = re.compile(r"(?<=\d)\s?[^\W\d_]+\.?")
"""Words behind a number: 2 pcs, 3 h."""


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
