"""Read sums of money as people write them, and the currency that a sign stands for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

CODES = (
    "EUR|USD|GBP|JPY|CHF|CNY|AUD|CAD|NZD|SGD|HKD|SEK"
    "|NOK|DKK|PLN|CZK|HUF|INR|KRW|BRL|MXN|ZAR|TRY|ILS"
)
SIGNS = {"€": "EUR", "Euro": "EUR", "£": "GBP", "円": "JPY", "US$": "USD", "₹": "INR", "₩": "KRW"}
OTHER_DOLLARS = re.compile(r"\b(?:AUD|CAD|NZD|SGD|HKD|MXN|BRL)\b|[ACRS]\$|HK\$|NZ\$")
CHINESE = re.compile(r"CNY|RMB|人民|元")
JAPANESE = re.compile(r"[\u3040-\u30ff]|円|JPY")

REMARK = re.compile(r"\([^)]*\)")
CODE = re.compile(rf"(?<![A-Za-z])(?:{CODES})(?![A-Za-z])")

_CURRENCY = rf"(?:{CODES})(?![A-Za-z])|US\$|Euro\b|[€£$¥円₹₩]"
_AMOUNT = re.compile(
    rf"(?<![\w.,/-])(?P<before>{_CURRENCY})?[\s:]{{0,2}}(?P<minus>-?)"
    r"(?P<digits>\d{1,3}(?:[.,' ’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,3})?)"
    rf"(?![.,]?\d)(?:\s?(?P<after>{_CURRENCY}))?(?![A-Za-z0-9%/年月日])"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """Hold a sum of money and the sign or code that stands by it, if one does."""

    value: Decimal
    sign: str | None


def amounts(text: str) -> Iterator[Amount]:
    """Yield the numbers in `text` that may be sums of money, in order."""
    for match in _AMOUNT.finditer(text):
        value = _decimal(match["minus"] + match["digits"])
        yield Amount(value, match["before"] or match["after"])


def one_amount(text: str) -> Amount | None:
    """Return the sum that `text` is, with marks or a remark in brackets beside it; else None."""
    match = _AMOUNT.search(text)
    if match is None:
        return None
    beside = text[: match.start()] + REMARK.sub("", text[match.end() :])
    if re.search(r"\w", beside):
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
