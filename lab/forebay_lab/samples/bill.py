"""What a document of trade is about: who bills whom for what, and the truth that follows."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from forebay_lab.samples.market import Market, Party

Truth = dict[str, Any]
"""Fields by name, and lines, as in the truth file beside a document."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line that is sold; `rate` is the tax in percent."""

    description: str
    quantity: Decimal
    price: Decimal
    rate: Decimal
    unit: str = ""

    @property
    def amount(self) -> Decimal:
        """Return quantity times price, with the price's decimals."""
        return (self.quantity * self.price).quantize(self.price)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """An invoice or one of its kin; what is None is not said.

    `title` is the word that it is called by, where kind does not tell. With `is_due_counted` the
    day when it is due is not printed, but days to count from its own date. `taxes` says how:
    "added" to the prices, "included" in them, "reversed" to the buyer (a zero is printed), or None.
    `slip` is by how much the printed total is off what net and tax make. `notes` are what else it
    says, by the word for it: order and customer numbers, delivery dates.
    """

    market: Market
    kind: str
    number: str
    day: date
    seller: Party
    buyer: Party | None
    items: tuple[Item, ...]
    due: date | None = None
    is_due_counted: bool = False
    title: str = ""
    taxes: str | None = "added"
    discount: int = 0
    shipping: Decimal | None = None
    paid: Decimal | None = None
    slip: Decimal = Decimal(0)
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def word(self) -> str:
        """Return the key of this document's name among the words."""
        return self.title or self.kind

    @property
    def smallest(self) -> Decimal:
        """Return the smallest sum that can be paid."""
        return Decimal(1) if self.market.currency == "JPY" else Decimal("0.01")

    @property
    def subtotal(self) -> Decimal:
        """Return the sum of the items."""
        return sum((item.amount for item in self.items), Decimal(0))

    @property
    def reduction(self) -> Decimal:
        """Return what the discount takes off the items."""
        return (self.subtotal * self.discount / 100).quantize(self.smallest)

    @property
    def by_rate(self) -> dict[Decimal, tuple[Decimal, Decimal]]:
        """Return for each tax rate, the highest first, its net sum and its tax.

        A discount or shipping belongs to the standard rate, of which there is only one then.
        """
        extra = (self.shipping or Decimal(0)) - self.reduction
        result: dict[Decimal, tuple[Decimal, Decimal]] = {}
        for rate in sorted({item.rate for item in self.items}, reverse=True):
            base = sum((item.amount for item in self.items if item.rate == rate), extra)
            extra = Decimal(0)
            if self.taxes == "included":
                base = (base * 100 / (100 + rate)).quantize(self.smallest)
            owed = rate if self.taxes in ("added", "included") else Decimal(0)
            result[owed] = (base, (base * owed / 100).quantize(self.smallest))
        return result

    @property
    def net(self) -> Decimal:
        """Return the sum before tax."""
        return sum((base for base, _ in self.by_rate.values()), Decimal(0))

    @property
    def tax(self) -> Decimal:
        """Return the sum of all taxes."""
        return sum((tax for _, tax in self.by_rate.values()), Decimal(0) * self.smallest)

    @property
    def total(self) -> Decimal:
        """Return what is to be paid, or was."""
        return self.net + self.tax + self.slip

    def truth(self) -> Truth:
        """Return the fields and lines that the document says."""
        fields = {
            "kind": self.kind,
            "number": self.number,
            "date": self.day.isoformat(),
            "seller": self.seller.name,
            "language": self.market.language,
        }
        if self.buyer:
            fields["buyer"] = self.buyer.name
        if self.due:
            fields["due_date"] = self.due.isoformat()
        if self.kind != "delivery_note":
            fields |= {"currency": self.market.currency, "total": str(self.total)}
            if self.taxes:
                fields |= {"total_net": str(self.net), "tax": str(self.tax)}
        return {"fields": fields, "lines": [self._line(item) for item in self.items]}

    def _line(self, item: Item) -> dict[str, str]:
        line = {"description": item.description, "quantity": str(item.quantity)}
        if self.kind != "delivery_note":
            line |= {"unit_price": str(item.price), "amount": str(item.amount)}
        return line
