"""Statements and contracts before they are laid out, and the truth about them."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from forebay_lab.samples.bill import Truth
from forebay_lab.samples.market import Market, Party


@dataclass(frozen=True, slots=True)
class Booking:
    """One entry of an account: what went in, or out if negative, and what was there afterwards."""

    day: date
    text: str
    sum: Decimal
    balance: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A statement of an account over some days, the oldest booking first."""

    market: Market
    number: str | None
    day: date
    bank: Party
    holder: Party
    opening: Decimal
    bookings: tuple[Booking, ...]

    @property
    def closing(self) -> Decimal:
        """Return what is there at the end."""
        return self.bookings[-1].balance

    def truth(self) -> Truth:
        """Return the fields and the bookings that the statement says; a minus is what went out."""
        number = {"number": self.number} if self.number else {}
        fields = {
            "kind": "statement",
            "date": self.day.isoformat(),
            "currency": self.market.currency,
            "total": str(self.closing),
            "seller": self.bank.name,
            "buyer": self.holder.name,
            "language": self.market.language,
        }
        lines = [{"description": each.text, "amount": str(each.sum)} for each in self.bookings]
        return {"fields": number | fields, "lines": lines}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A contract; with `is_labelled` it names its parties by their parts in it, and its value."""

    market: Market
    number: str
    day: date
    provider: Party
    client: Party
    value: Decimal
    clauses: tuple[str, ...]
    is_labelled: bool

    def truth(self) -> Truth:
        """Return the fields that the contract says."""
        fields = {
            "kind": "contract",
            "number": self.number,
            "date": self.day.isoformat(),
            "language": self.market.language,
        }
        if self.is_labelled:
            fields |= {
                "seller": self.provider.name,
                "buyer": self.client.name,
                "currency": self.market.currency,
                "total": str(self.value),
            }
        return {"fields": fields, "lines": []}


def book(random: Random, market: Market, opening: Decimal, last: date, count: int) -> list[Booking]:
    """Make bookings up to a day: money goes out mostly, and comes in when half of it is gone."""
    smallest = Decimal(1) if market.currency == "JPY" else Decimal("0.01")
    balance, bookings = opening, []
    most = int(opening / smallest / 9)
    for number in range(count):
        sign = 1 if balance < opening / 2 else random.choice((-1, 1, -1))
        change = sign * random.randint(most // 90, most) * smallest
        balance += change
        day = last - timedelta(days=(count - number) * 28 // count)
        bookings.append(Booking(day, random.choice(market.bookings), change, balance))
    return bookings
