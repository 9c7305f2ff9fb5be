"""Read sums of money as people write them: 1.234,56 and 1 234,56 and 1,234.56 and 1'234.-"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Literal

from forebay_agents.rules import currencies

DecimalMark = Literal[".", ","]

YEN = frozenset("¥円")
REMARK = re.compile(r"[(\[][^)\]]*[)\]]")
UNIT = (
    r"\s?(?:kg|g|mg|t|km|m|cm|mm|m²|m2|m³|m3|l|ml|h|hrs?|hours?|std|stk|stck|st|pcs|pc|kwh|mwh|gb|mb|tb"
    r"|days?|tage?n?|jours?|días|giorni|dias|dagen|uds?|pz|x|min|nights?|users?|units?|items?"
    r"|日|個|点|件|本|台|式|枚|時間|名|人|回|箱|セット)(?![A-Za-z])"
)
DIGITS = (
    r"\d{1,3}(?:(?P<group>[.,'’`´ ])\d{3})(?:(?P=group)\d{3})*(?:(?!(?P=group))[.,]\d{1,6})?"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?"
    r"|\d+(?:[.,]\d{1,6})?"
)
"""The digits of a number, with marks between thousands and before decimals."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of money in a text: its digits as printed, and what names its currency, if anything."""

    digits: str
    is_negative: bool
    sign: str | None
    start: int
    end: int

    def value(self, mark: DecimalMark | None) -> Decimal:
        """Return the number, with decimals as printed; `mark` decides what 1.234 means."""
        number = Decimal(_plain(self.digits, mark))
        return number.copy_negate() if self.is_negative and number else number

    def has_decimals(self) -> bool:
        """Tell whether cents are printed."""
        return re.search(r"[.,](?:\d\d|[-–—]+)$", self.digits) is not None


def amounts(text: str) -> Iterator[Amount]:
    """Yield the numbers in `text` (in normal form) that may be sums of money, in order."""
    for match in _pattern().finditer(text):
        before, after = match["before"], match["after"]
        sign = _clearer(before, after)
        is_dashed = match["behind"] is not None and not (sign and sign[-1] in YEN)
        is_negative = bool(match["minus"] or match["inner"] or is_dashed)
        is_negative |= bool(match["open"] and match["close"])
        yield Amount(match["digits"] + (match["dash"] or ""), is_negative, sign, *match.span())


def only_amounts(text: str, letters: int = 0) -> list[Amount]:
    """Return the sums that `text` is made of; none when more than `letters` letters are left.

    Remarks in brackets and rates do not count, nor does a currency that stands apart.
    """
    found = list(amounts(text))
    if not found:
        return []
    places = list(text)
    for amount in found:
        places[amount.start : amount.end] = " " * (amount.end - amount.start)
    rest = REMARK.sub(" ", "".join(places))
    rest = re.sub(currencies.pattern(), " ", rest)
    return (
        found
        if sum(map(str.isalpha, rest)) <= letters and not re.search(r"\d", _no_rates(rest))
        else []
    )


def decimal_mark(texts: Iterable[str]) -> DecimalMark | None:
    """Return the mark before cents in this document; None when nothing tells."""
    votes = {".": 0, ",": 0}
    for text in texts:
        for amount in amounts(text):
            match = re.search(r"([.,])(?:\d\d|[-–—]+)$", amount.digits)
            if match:
                votes["," if match[1] == "," else "."] += 1
    if votes["."] == votes[","]:
        return None
    return "." if votes["."] > votes[","] else ","


def _no_rates(text: str) -> str:
    return re.sub(r"\d+(?:[.,]\d+)?\s?%", " ", text)


def _clearer(before: str | None, after: str | None) -> str | None:
    """Return the sign that means fewer currencies: in '$10.00 CAD' the code."""
    both = [sign for sign in (before, after) if sign]
    return min(both, key=lambda sign: len(currencies.meanings(sign)) or 99, default=None)


def _plain(digits: str, mark: DecimalMark | None) -> str:
    """Return the digits with a point before the decimals and nothing between thousands."""
    if re.search(r"[.,][-–—]+$", digits):
        return re.sub(r"\D", "", digits) + ".00"
    digits = re.sub(r"[\s'’`´]", "", digits)
    place = max(digits.rfind("."), digits.rfind(","))
    if place < 0:
        return digits
    whole, fraction = digits[:place], digits[place + 1 :]
    is_alone = not re.search(r"[.,]", whole)
    is_repeated = digits[place] in whole
    groups = is_alone and len(fraction) == 3 and whole != "0" and digits[place] != mark
    if is_repeated or groups:
        return re.sub(r"[.,]", "", digits)
    return re.sub(r"[.,]", "", whole) + "." + fraction


@cache
def _pattern() -> re.Pattern[str]:
    money = currencies.pattern()
    return re.compile(
        rf"(?<![\w.,/#])(?<!\d:)(?<![A-Za-z]-)(?P<open>\()?\s?(?P<minus>-\s?)?(?:(?P<before>{money})\s?:?\s?)?"
        rf"(?:(?:{money})\s?)?"
        rf"(?P<inner>-\s?)?(?P<digits>{DIGITS})(?P<dash>[,.][-–—]{{1,2}})?"
        rf"(?P<close>\s?\))?(?P<behind>-(?![\w]))?(?:\s?(?P<after>{money}))?"
        rf"(?![.,:]?\d|[A-Za-z²°%/]|\s?%|[-–]\w|{UNIT}|[年月日時分])"
    )
