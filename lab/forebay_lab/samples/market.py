"""The shapes that the words of a market come in: what it says, who trades there and in what."""

from dataclasses import dataclass
from decimal import Decimal

Rate = int | Decimal
"""A tax in percent."""


@dataclass(frozen=True, slots=True)
class Party:
    """A firm or a person, made up: name, street, town, tax number, and how to reach and pay it."""

    name: str
    street: str
    town: str
    tax_number: str = ""
    phone: str = ""
    mail: str = ""
    account: str = ""

    @property
    def address(self) -> tuple[str, str, str]:
        """Return the lines of the address, the name first."""
        return self.name, self.street, self.town


@dataclass(frozen=True, slots=True)
class Good:
    """Something that is sold: what it is called, its price and which of the market's tax rates."""

    description: str
    price: Decimal
    unit: str
    rate: int = 0


@dataclass(frozen=True, slots=True)
class Market:
    """Hold what documents of one country say.

    `words` gives for each notion the ways to say it. `rates` are its taxes in percent, the standard
    one first. `money` and `days` are the usual ways to write sums and dates: see writing.py.
    """

    locale: str
    currency: str
    rates: tuple[Rate, ...]
    money: tuple[str, ...]
    days: tuple[str, ...]
    words: dict[str, tuple[str, ...]]
    parties: tuple[Party, ...]
    goods: tuple[Good, ...]
    bookings: tuple[str, ...]
    clauses: tuple[str, ...]

    @property
    def language(self) -> str:
        """Return the language as ISO 639-1 has it."""
        return self.locale[:2]


def goods(*rows: tuple[str, str, str] | tuple[str, str, str, int]) -> tuple[Good, ...]:
    """Read goods from rows of description, price, unit and, unless standard, the tax rate."""
    return tuple(Good(row[0], Decimal(row[1]), row[2], *row[3:]) for row in rows)
