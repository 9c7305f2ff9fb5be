"""Every way in which printed text may be read as a sum or a day.

Rules have to choose one reading; a model has chosen, and its choice must be among these.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from decimal import Decimal
from functools import cache

from babel.dates import get_month_names

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
SHORT_NAMES = {"mrz": 3, "sept": 9, "okt": 10}
"""Short names in use that the locale data does not give."""
ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "r": 2018, "h": 1988, "s": 1925}

MOST_GROUPS = 5
"""Groups of digits that spaces part in one number: 1 234 567 890,12 has four."""

_GROUPED = re.compile(r"\d{1,3}(?:[.,'’ ]\d{2,3})*[.,'’ ]\d{3}(?:[.,]\d+)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,'’ ]\d{2,3})*[.,'’ ]\d{3}")
_NUMBER = re.compile(r"\d+(?:[.,'’ ]\d+)*")
_MINUS_BEFORE = re.compile(r"[-−–(]\s*[^\w\s]?\s*$")
_PERCENT = re.compile(r"\s?%")
_MINUS_AFTER = re.compile(r"^\s?(?:[-−–)]|cr\b)")


def plain(text: str) -> str:
    """Return `text` in narrow forms and lower case, with every space a plain one."""
    return re.sub(r"\s", " ", unicodedata.normalize("NFKC", text).casefold())


def amounts(text: str) -> dict[Decimal, str]:
    """Return what the numbers in `text` may mean, with their decimals as printed; no percentages.

    Where the same number is printed twice, 19 and 19.00, the longer form counts.
    """
    found: dict[Decimal, str] = {}
    text = plain(text)
    for match in _NUMBER.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        signs = ("", "-") if _MINUS_BEFORE.search(before) or _MINUS_AFTER.search(after) else ("",)
        for reading in () if _PERCENT.match(after) else _readings(match[0]):
            for sign in signs:
                value = Decimal(sign + reading)
                found[value] = max(found.get(value, ""), sign + reading, key=len)
    return found


def _readings(run: str) -> Iterator[str]:
    """Yield the readings of numbers parted by spaces at most: they may be one number or several."""
    if _GROUPED.fullmatch(run):
        yield from _number_readings(run)
        return
    parts = run.split(" ")
    for start in range(len(parts)):
        for end in range(start + 1, min(len(parts), start + MOST_GROUPS) + 1):
            number = " ".join(parts[start:end])
            if end == start + 1 or _GROUPED.fullmatch(number):
                yield from _number_readings(number)


def _number_readings(number: str) -> Iterator[str]:
    """Yield a number's readings: 1.234 may be a thousand and more, or a little above one."""
    digits = re.sub(r"['’ ]", "", number)
    marks = re.findall(r"[.,]", digits)
    if not marks or (_THOUSANDS.fullmatch(number) and len(set(re.findall(r"\D", number))) == 1):
        yield re.sub(r"[.,]", "", digits)
    if marks and (len(marks) == 1 or marks[-1] not in marks[:-1]):
        whole, _, fraction = digits.rpartition(marks[-1])
        yield f"{re.sub(r'[.,]', '', whole)}.{fraction}"


_DIGITS = re.compile(
    r"(?<!\d)(?P<first>\d{1,4})\s?(?P<mark>[./-]|年)\s?(?P<second>\d{1,2})"
    r"\s?(?:(?P=mark)|月)\s?(?P<third>\d{1,4})(?!\d)"
)
_ERA = re.compile(
    r"(?P<era>令和|平成|昭和|\b[rhs])\s?\.?(?P<year>\d{1,2}|元)\s?[年./-]"
    r"\s?(?P<month>\d{1,2})\s?[月./-]\s?(?P<day>\d{1,2})"
)
_WORDS = re.compile(r"\d+|[^\W\d_]+")
_BETWEEN = {"st", "nd", "rd", "th", "er", "de", "del", "of", "the", "o", "di"}


def days(text: str) -> set[date]:
    """Return the days that the dates in `text` may mean: 03/04/2026 may be two."""
    text = plain(text)
    parts = [*_in_eras(text), *_in_digits(_ERA.sub(" ", text)), *_in_words(text)]
    return {day for year, month, number in parts if (day := _day(year, month, number))}


def _in_eras(text: str) -> Iterator[tuple[int, int, int]]:
    for match in _ERA.finditer(text):
        year = 1 if match["year"] == "元" else int(match["year"])
        yield ERAS[match["era"]] + year, int(match["month"]), int(match["day"])


def _in_digits(text: str) -> Iterator[tuple[int, int, int]]:
    for match in _DIGITS.finditer(text):
        first, second, third = (int(match[part]) for part in ("first", "second", "third"))
        if len(match["first"]) == 4:
            yield first, second, third
        elif match["mark"] != "年":
            yield third, second, first
            if match["mark"] != ".":
                yield third, first, second


def _in_words(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield dates whose month is a name: 4 March 2026, March 4 2026, 2026 March 4."""
    words = [word for word in _WORDS.findall(text) if word not in _BETWEEN]
    for one, two, three in zip(words, words[1:], words[2:], strict=False):
        month_first, month_second = _months().get(_bare(one)), _months().get(_bare(two))
        if month_first and two.isdecimal() and three.isdecimal():
            yield int(three), month_first, int(two)
        elif month_second and one.isdecimal() and three.isdecimal():
            year, day = (one, three) if len(one) == 4 else (three, one)
            yield int(year), month_second, int(day)


def _day(year: int, month: int, day: int) -> date | None:
    with suppress(ValueError):
        return date(year + 2000 if year < 100 else year, month, day)
    return None


@cache
def _months() -> dict[str, int]:
    """Return the months by their names and short names in all languages."""
    return SHORT_NAMES | {
        _bare(name): month
        for language in LANGUAGES
        for width in ("wide", "abbreviated")
        for context in ("format", "stand-alone")
        for month, name in get_month_names(width, context, language).items()
    }


def _bare(word: str) -> str:
    """Return a word without accents and full stops, in lower case."""
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(
        letter for letter in apart if letter.isalpha() and not unicodedata.combining(letter)
    )
