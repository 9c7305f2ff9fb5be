"""Markets: what documents of a country say, who trades there and in what; see markets/*.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any


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
    rates: tuple[Decimal, ...]
    money: tuple[str, ...]
    days: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]
    bank: Party
    parties: tuple[Party, ...]
    goods: tuple[Good, ...]
    bookings: tuple[str, ...]
    clauses: tuple[str, ...]

    @property
    def language(self) -> str:
        """Return the language as ISO 639-1 has it."""
        return self.locale[:2]


@cache
def market(name: str) -> Market:
    """Return the market of a file in markets/, by its stem."""
    data = _data(name)
    return Market(
        locale=data["locale"],
        currency=data["currency"],
        rates=tuple(map(Decimal, data["rates"])),
        money=tuple(data["money"]),
        days=tuple(data["days"]),
        words={key: tuple(ways) for key, ways in data["words"].items()},
        bank=Party(**data["bank"]),
        parties=tuple(Party(**each) for each in data["parties"]),
        goods=tuple(Good(**each | {"price": Decimal(each["price"])}) for each in data["goods"]),
        bookings=tuple(data["bookings"]),
        clauses=tuple(data["clauses"]),
    )


def _data(name: str) -> dict[str, Any]:
    """Read a file; what it leaves out is as in the one that it names with `like`."""
    path = files(__package__) / "markets" / f"{name}.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    if "like" not in data:
        return data
    base = _data(data["like"])
    return base | data | {"words": base["words"] | data["words"]}
