"""A sample before it exists: what is chosen for it, and all else drawn by lot from its name."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Literal

from babel.dates import format_date

from forebay_lab.samples.accounts import Account, Agreement, book
from forebay_lab.samples.bill import Bill, Item
from forebay_lab.samples.market import Good, Market, Party, market
from forebay_lab.samples.writing import Voice

PREFIXES = {
    "invoice": "INV",
    "credit_note": "CN",
    "receipt": "R",
    "quote": "Q",
    "order": "OC",
    "delivery_note": "DN",
    "contract": "C",
}
INVOICE_PREFIXES = {"de": "RE", "fr": "F", "es": "F", "it": "FT", "pt": "FT", "nl": "F", "ja": "SK"}
NUMBERS = ("{p}-{y}-{n:04}", "{p}{y}{n:05}", "{y}/{n:05}", "{n}", "{p}-{n:05}", "{y}-{n:03}")
CONTACTS = {"ja": ("鈴木", "高橋")}
INN, UTILITY, PERSON = 4, 2, 5
"""Places of these among a market's parties."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Say what a sample is to be.

    `count` is of items, bookings or clauses. `taxes` is as in Bill; `rates` is how many tax rates
    there are; `by` and `to` are places among the market's parties. With `is_negative` all sums
    are; `slip` is as in Bill. An empty text and None leave the choice to the lot; each `draw` of it
    comes out otherwise.
    """

    name: str
    market: str
    layout: str
    kind: str = "invoice"
    title: str = ""
    money: str = ""
    days: str = ""
    font: str = ""
    count: int = 4
    taxes: str | None = "added"
    rates: int = 1
    discount: int = 0
    has_shipping: bool = False
    is_paid: bool = False
    is_negative: bool = False
    negative: str = "-{}"
    slip: Decimal = Decimal(0)
    due: Literal["printed", "counted", "none"] = "printed"
    by: int | None = None
    to: int | None = None
    day: date | None = None
    draw: int = 0

    @property
    def seed(self) -> str:
        """Return what the lot depends on."""
        return f"{self.name} {self.draw}" if self.draw else self.name

    @property
    def _there(self) -> Market:
        return market(self.market)

    def voice(self) -> Voice:
        """Return how the document writes; the same at each call."""
        there = self._there
        if self.kind not in ("invoice", "credit_note"):
            there = replace(there, words={**there.words, "total": there.words["plain total"]})
        return Voice(there, self.seed, self.money, self.days, self.negative)

    def bill(self) -> Bill:
        """Return the document of trade that is planned; the same at each call."""
        random, there = Random(self.seed), self._there
        day = self.day or _day(random)
        seller, buyer = self._parties(random, there)
        bill = Bill(
            market=there,
            kind=self.kind,
            title=self.title,
            number=self._number(random, day),
            day=day,
            seller=seller,
            buyer=buyer,
            items=self._items(random, there, day),
            due=self._due(random, day),
            is_due_counted=self.due == "counted",
            taxes=self.taxes,
            discount=self.discount,
            shipping=Decimal("14.90") if self.has_shipping else None,
            slip=self.slip,
            notes=self._notes(random, day),
        )
        return replace(bill, paid=self._paid(bill)) if self.is_paid else bill

    def account(self) -> Account:
        """Return the statement that is planned; the same at each call."""
        random, there = Random(self.seed), self._there
        smallest = Decimal(1) if there.currency == "JPY" else Decimal("0.01")
        opening = random.randint(150_000, 900_000) * smallest
        day = self.day or _day(random)
        return Account(
            market=there,
            number=f"{day.year}/{day.month:02}" if self.due == "printed" else None,
            day=day,
            bank=there.bank,
            holder=random.choice(there.parties),
            opening=opening,
            bookings=tuple(book(random, there, opening, day, self.count)),
        )

    def agreement(self) -> Agreement:
        """Return the contract that is planned; the same at each call."""
        random, there = Random(self.seed), self._there
        day = self.day or _day(random)
        provider, client = self._parties(random, there)
        assert client is not None
        return Agreement(
            market=there,
            number=self._number(random, day),
            day=day,
            provider=provider,
            client=client,
            value=Decimal(random.randint(12, 400) * 100).quantize(self.voice().smallest),
            clauses=tuple(" ".join(random.sample(there.clauses, 3)) for _ in range(self.count)),
            is_labelled=self.layout == "data_first",
        )

    def _parties(self, random: Random, there: Market) -> tuple[Party, Party | None]:
        special = {"hotel": INN, "utility": UTILITY, "letter": PERSON}.get(self.layout)
        chosen = self.by if self.by is not None else special
        seller = there.parties[chosen if chosen is not None else random.randrange(4)]
        others = [party for party in there.parties if party is not seller]
        buyer = others[random.randrange(4)] if self.to is None else there.parties[self.to]
        if seller.name == there.parties[PERSON].name:
            seller = replace(
                there.parties[1], name=seller.name, street=seller.street, town=seller.town
            )
        return seller, None if self.layout == "till_roll" else buyer

    def _number(self, random: Random, day: date) -> str:
        prefix = PREFIXES[self.kind]
        if self.kind == "invoice":
            prefix = INVOICE_PREFIXES.get(self._there.language, prefix)
        return random.choice(NUMBERS).format(p=prefix, y=day.year, n=random.randint(11, 9876))

    def _items(self, random: Random, there: Market, day: date) -> tuple[Item, ...]:
        if self.layout == "online":
            return (self._month(random, there, day),)
        if self.layout == "hotel":
            return self._nights(random, there, day)
        return tuple(self._item(random, there, good) for good in self._goods(random, there))

    def _month(self, random: Random, there: Market, day: date) -> Item:
        """Return a month of a subscription for some people."""
        month = format_date(day, "MMMM yyyy", locale=there.locale)
        said = self.voice()["subscription"].format(month)
        return Item(said, Decimal(random.randint(2, 9)), Decimal("12.00"), there.rates[0])

    def _nights(self, random: Random, there: Market, day: date) -> tuple[Item, ...]:
        """Return the nights before a day, at one price."""
        voice = self.voice()
        price = Decimal(random.randint(70, 190)).quantize(voice.smallest)
        nights = [day - timedelta(days=number) for number in range(self.count, 0, -1)]
        said = [voice["nights"].format(voice.day(night)) for night in nights]
        return tuple(Item(each, Decimal(1), price, there.rates[0]) for each in said)

    def _goods(self, random: Random, there: Market) -> list[Good]:
        """Return goods of as many tax rates as asked for: all in turn where more than there are."""
        goods = [good for good in there.goods if good.rate < self.rates]
        if self.layout == "till_roll":
            goods = [good for good in goods if good.price < 60 * self._dear(there)]
        if self.count > len(goods):
            return [goods[number % len(goods)] for number in range(self.count)]
        chosen = random.sample(goods, self.count)
        if self.rates > 1 and not any(good.rate for good in chosen):
            chosen[-1] = next(good for good in goods if good.rate)
        return chosen

    def _item(self, random: Random, there: Market, good: Good) -> Item:
        is_time = good.unit in ("h", "Std.", "uur", "ore", "day", "Tag", "jour", "visit")
        quantity = Decimal(random.randint(1, 12))
        if is_time and there.currency != "JPY" and random.random() < 0.5:
            quantity += Decimal("0.5")
        if self.is_negative:
            quantity = -quantity
        return Item(good.description, quantity, good.price, there.rates[good.rate], good.unit)

    def _due(self, random: Random, day: date) -> date | None:
        days = random.choice((10, 14, 21, 30, 45))
        billed = self.kind == "invoice" and self.due != "none"
        return day + timedelta(days=days) if billed else None

    def _notes(self, random: Random, day: date) -> tuple[tuple[str, str], ...]:
        voice = self.voice()
        contacts = CONTACTS.get(voice.market.language, ("A. Berg", "L. Marin", "T. Roy"))
        notes = {
            "their order": f"{random.randint(4_500_000, 4_599_999)}",
            "customer number": f"{random.randint(10_000, 99_999)}",
            "delivery": voice.day(day - timedelta(days=random.randint(1, 9))),
            "contact": random.choice(contacts),
        }
        if self.layout in ("till_roll", "hotel", "online", "slip"):
            return ()
        if self.title:
            del notes["their order"]
        if self.kind == "delivery_note":
            del notes["delivery"]
        return tuple(random.sample(sorted(notes.items()), 2))

    def _paid(self, bill: Bill) -> Decimal:
        """Return what was handed over a counter, or a deposit."""
        if self.layout != "till_roll":
            return (bill.total / 4).quantize(bill.smallest)
        note = 10 * self._dear(bill.market)
        return (bill.total // note + 1) * note.quantize(bill.smallest)

    def _dear(self, there: Market) -> Decimal:
        """Return what one euro is, roughly."""
        return Decimal(100 if there.currency == "JPY" else 1)


def _day(random: Random) -> date:
    return date(2023, 1, 1) + timedelta(days=random.randrange(1400))
