"""Write words, sums and dates in the one way that a document keeps to."""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from random import Random

from babel.dates import format_date

from forebay_lab.samples.market import Market

WIDE = str.maketrans("0123456789", "０１２３４５６７８９")

COLONS = {"fr": (" :", ""), "ja": ("：", "", ":")}
"""What may stand between a label and its value, where not nothing or a colon."""


class Voice:
    """Choose one of a market's ways for each thing that a document says, and keep to it.

    Equal seeds choose equally, each word by itself. `money` is a sum in the way that sums are to be
    written, such as "€ 1.234,56"; `days` is a date pattern of Unicode TR 35, or one of the Japanese
    eras: "reiwa", "reiwa wide", "R.M.d". How less than nothing is written, `negative` says.
    """

    def __init__(
        self, market: Market, seed: str, money: str = "", days: str = "", negative: str = "-{}"
    ) -> None:
        self.market = market
        self._seed, self._negative = seed, negative
        self._days = days or self._choice("days", market.days)
        example = re.fullmatch(r"(\D*)(\d.*\d)(\D*)", money or self._choice("money", market.money))
        assert example is not None
        self._before, digits, self._after = example.groups()
        self._group = "" if digits[1].isdigit() else digits[1]
        self._point = "." if digits[-3].isdigit() else digits[-3]
        self._is_wide = digits[0] == "１"
        self.colon = self._choice("colon", COLONS.get(market.language, ("", ":")))
        self.smallest = Decimal(1) if market.currency == "JPY" else Decimal("0.01")

    def __getitem__(self, key: str) -> str:
        return self._choice(key, self.market.words[key])

    def label(self, kind: str, what: str) -> str:
        """Return what a document of this kind calls its "number" or "date"."""
        return self[f"{kind} {what}"]

    def number(self, value: Decimal) -> str:
        """Write a sum without its currency."""
        marks = str.maketrans({",": self._group, ".": self._point})
        text = f"{abs(value):,}".translate(WIDE | marks if self._is_wide else marks)
        return self._negative.format(text) if value < 0 else text

    def money(self, value: Decimal) -> str:
        """Write a sum with its currency; a minus in front stands before the currency too."""
        if value < 0 and self._negative.startswith("-"):
            return self._negative.format(self.money(-value))
        return f"{self._before}{self.number(value)}{self._after}"

    @property
    def sign(self) -> str:
        """Return the sign or code of the currency."""
        return self._before.strip() or self._after.strip()

    def day(self, day: date) -> str:
        """Write a date."""
        era = {"reiwa": "令和{}年{}月{}日", "reiwa wide": "令和{}年{}月{}日", "R.M.d": "R{}.{}.{}"}
        if self._days not in era:
            return format_date(day, self._days, locale=self.market.locale)
        text = era[self._days].format(day.year - 2018, day.month, day.day)
        return text.translate(WIDE) if self._days == "reiwa wide" else text

    def _choice(self, key: str, ways: Sequence[str]) -> str:
        return Random(f"{self._seed}: {key}").choice(ways)
