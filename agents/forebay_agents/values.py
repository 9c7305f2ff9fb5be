"""Read amounts, dates and document numbers as people write them; leave out what reads two ways."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

CODES = (
    "EUR|USD|GBP|JPY|CHF|CNY|AUD|CAD|NZD|SGD|HKD|SEK"
    "|NOK|DKK|PLN|CZK|HUF|INR|KRW|BRL|MXN|ZAR|TRY|ILS"
)
SIGNS = {"€": "EUR", "Euro": "EUR", "£": "GBP", "円": "JPY", "US$": "USD", "₹": "INR", "₩": "KRW"}
OTHER_DOLLARS = re.compile(r"\b(?:AUD|CAD|NZD|SGD|HKD|MXN|BRL)\b|[ACRS]\$|HK\$|NZ\$")
CHINESE = re.compile(r"CNY|RMB|人民|元")
JAPANESE = re.compile(r"[\u3040-\u30ff]|円|JPY")

_CURRENCY = rf"(?:{CODES})(?![A-Za-z])|US\$|Euro\b|[€£$¥円₹₩]"
_AMOUNT = re.compile(
    rf"(?<![\w.,/-])(?P<before>{_CURRENCY})?\s?(?P<sign>-?)"
    r"(?P<digits>\d{1,3}(?:[.,' ’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,3})?)"
    rf"(?![.,]?\d)(?:\s?(?P<after>{_CURRENCY}))?(?![A-Za-z0-9%/年月日])"
)

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
_NUMBER = re.compile(r"(?=[^\s,;]*\d)[A-Za-z0-9][\w./#-]*\w")


@dataclass(frozen=True, slots=True)
class Amount:
    """Hold a sum of money; the currency is None where neither a code nor a sign stands by it."""

    value: Decimal
    currency: str | None


def amounts(text: str) -> Iterator[Amount]:
    """Yield the numbers in `text` that may be sums of money, in order."""
    for match in _AMOUNT.finditer(text):
        sign = match["before"] or match["after"]
        yield Amount(_decimal(match["sign"] + match["digits"]), sign)


def amount(text: str) -> Amount | None:
    """Return the sum that `text` is, with nothing but marks beside it; None if it is not one."""
    match = _AMOUNT.search(text)
    if match is None or re.search(r"\w", text[: match.start()] + text[match.end() :]):
        return None
    return next(amounts(text), None)


def currency(sign: str | None, text: str) -> str | None:
    """Return the ISO 4217 code that `sign` means in a document that says `text`.

    A bare $ is the US dollar unless another dollar is named; ¥ is read by the language around it.
    """
    match sign:
        case None:
            return None
        case "$":
            return None if OTHER_DOLLARS.search(text) else "USD"
        case "¥":
            japanese, chinese = bool(JAPANESE.search(text)), bool(CHINESE.search(text))
            return None if japanese == chinese else "JPY" if japanese else "CNY"
        case _:
            return SIGNS.get(sign, sign)


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


def dates(text: str, day_first: bool | None) -> Iterator[tuple[int, date]]:
    """Yield place and value of the dates in `text`, without those that could be another day."""
    for match in _DATES.finditer(text):
        found = _date(match, day_first)
        if found is not None:
            yield match.start(), found


def number(text: str) -> str | None:
    """Return the document number that `text` starts with: a token with a digit, and no date."""
    match = _NUMBER.match(text)
    if match is None or _DATES.match(match[0]):
        return None
    return match[0]


def _decimal(text: str) -> Decimal:
    """Read 1,234.56 and 1.234,56 and 1 234,56; a lone mark before three digits groups thousands."""
    digits = re.sub(r"[' ’]", "", text)
    mark = max(digits.rfind("."), digits.rfind(","))
    if mark < 0:
        return Decimal(digits)
    whole, fraction = digits[:mark], digits[mark + 1 :]
    alone = not re.search(r"[.,]", whole)
    repeated = digits[mark] in whole
    if repeated or (alone and len(fraction) == 3 and whole.lstrip("-") != "0"):
        whole, fraction = whole + fraction, ""
    whole = re.sub(r"[.,]", "", whole)
    return Decimal(f"{whole}.{fraction}" if fraction else whole)


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
