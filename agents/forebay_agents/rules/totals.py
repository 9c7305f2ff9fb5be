"""Find what a document comes to: total, net and tax, and whether they add up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from forebay_agents.findings import Found, Name
from forebay_agents.rules.candidates import Candidate, choose
from forebay_agents.rules.places import Document
from forebay_agents.rules.stated import Sum, dated, fitting, pairs, printed, signed, spoken, stated
from forebay_agents.sums import adds_up

AGREED = 0.1
"""How much surer a total is that the document gives twice, or that two other sums make."""

MOST = 12
"""How many different taxes are tried together."""

TIERS: dict[str, tuple[tuple[str, float], ...]] = {
    "statement": (("closing", 0.92), ("payable", 0.7), ("total", 0.6)),
    "receipt": (("total", 0.88), ("sum", 0.8), ("payable", 0.75), ("paid", 0.66), ("amount", 0.6)),
    "contract": (("contract", 0.85),),
    "": (("total", 0.88), ("sum", 0.75), ("payable", 0.71), ("amount", 0.45), ("paid", 0.4)),
}
"""Which labels name the total in a document of a kind, and how surely."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What was found, and the sum that the total is: one with a currency, if there is one."""

    fields: dict[Name, Found]
    total: Sum | None


@dataclass(frozen=True, slots=True)
class Parts:
    """A net, and the taxes that together with it make a total; `bonus` is what that proves."""

    net: Sum
    taxes: tuple[Sum, ...]
    bonus: float

    @property
    def tax(self) -> Decimal:
        """All taxes together."""
        return sum((tax.value for tax in self.taxes), Decimal(0))


class Statements:
    """The sums that a document states besides its total."""

    def __init__(self, document: Document, kind: str) -> None:
        self.is_plain = is_plain = kind in ("statement", "contract")
        self.document = document
        self.nets = [] if is_plain else list(stated(document, "net", 0.85))
        self.sums = [] if is_plain else list(stated(document, "sum", 0.7))
        self.taxes = [] if is_plain else _taxes(document)
        self.withheld = [] if is_plain else list(stated(document, "withheld", 0.8))
        self.pairs = [] if is_plain else list(pairs(document))

    def parts(self, total: Decimal) -> Parts | None:
        """Return the net and the taxes that make a total, the simplest way first."""
        return next(self._all_parts(total), None)

    def unlabelled(self) -> Iterator[Sum]:
        """Yield what net and tax come to, where it is printed without a label."""
        for net in self.nets:
            for tax in self.taxes:
                if found := printed(self.document, net.value + tax.value):
                    yield found
        for name, confidence in (("total", 0.62), ("payable", 0.6), ("closing", 0.6)):
            yield from spoken(self.document, name, confidence)
        yield from dated(self.document)
        for net, tax, total in [] if self.is_plain else fitting(self.document):
            self.nets.append(net)
            self.taxes.append(tax)
            yield total

    def beyond(self, said: Sequence[Sum]) -> list[Sum]:
        """Return the total that a net and a tax make, where the net is taken for a total."""
        for net, tax, total in fitting(self.document):
            values = {each.value for each in said}
            is_tax = bool(self.taxes) or _is_share(net.value, tax)
            if is_tax and net.value in values and total.value not in values:
                self.nets.append(net)
                self.taxes.append(tax)
                return [total]
        return []

    def lone(self) -> Iterator[Sum]:
        """Yield the sum of a document that has only one, as some receipts do."""
        sums = list(signed(self.document))
        if len({each.value for each in sums}) == 1:
            yield sums[0]

    def has_parts(self) -> bool:
        """Tell whether one net and some tax are stated, which then should make the total."""
        return len({net.value for net in self.nets}) == 1 and bool(self.taxes)

    def _all_parts(self, total: Decimal) -> Iterator[Parts]:
        nets = sorted(self.nets, key=lambda net: -abs(net.value))
        for offered, bonus in ((nets, 0.3), (self.sums, 0.2)):
            for taxes in self._groups(total):
                added = sum((tax.value for tax in taxes), Decimal(0))
                for net in offered:
                    is_tax = abs(added) < abs(net.value) and (added or net in nets)
                    if is_tax and adds_up(net.value + added, total):
                        yield Parts(net, taxes, bonus)
        for net, tax in self.pairs:
            if adds_up(net.value + tax.value, total) and tax.value:
                yield Parts(net, (tax,), 0.25)
        for net in nets:
            for taxes in self._groups(total):
                added = net.value + sum((tax.value for tax in taxes), Decimal(0))
                if any(adds_up(added - abs(less.value), total) for less in self.withheld):
                    yield Parts(net, taxes, 0.1)

    def _groups(self, total: Decimal) -> Iterator[tuple[Sum, ...]]:
        """Yield each tax by itself, all of them together, and any two and three of them."""
        single = {tax.value: tax for tax in self.taxes if abs(tax.value) < abs(total) or not total}
        taxes = list(single.values())[:MOST]
        yield from ((tax,) for tax in taxes)
        if len(taxes) > 3:
            yield tuple(taxes)
        yield from combinations(taxes, 2)
        yield from combinations(taxes, 3)


def find_totals(document: Document, kind: str) -> Totals:
    """Return total, net and tax as far as they are stated; sums that add up are taken first."""
    statements = Statements(document, kind)
    said = _totals(document, kind) or (list(statements.unlabelled()) if kind else [])
    said += statements.beyond(said)
    if kind in ("receipt", "invoice") and not said:
        said = list(statements.lone())
    totals = [_confirmed(_checked(each, statements), said) for each in said]
    total = choose(document, [each.candidate(each.confidence) for each in totals])
    if total is None:
        return Totals({}, None)
    value = Decimal(total.value)
    same = [each for each in totals if each.value == value]
    net, tax = _net_and_tax(statements, value)
    named: dict[Name, Found | None] = {"total": total, "total_net": net, "tax": tax}
    fields = {name: found for name, found in named.items() if found is not None}
    return Totals(fields, next((each for each in same if each.sign), same[0]))


def _totals(document: Document, kind: str) -> list[Sum]:
    found: list[Sum] = []
    for name, confidence in TIERS.get(kind, TIERS[""]):
        sums = list(stated(document, name, confidence))
        found += sums[-1:] if name == "closing" else sums
    is_any = any(each.value for each in found)
    return [each for each in found if each.value or not is_any]


def _taxes(document: Document) -> list[Sum]:
    return [*stated(document, "tax", 0.85), *stated(document, "included", 0.85)]


def _checked(total: Sum, statements: Statements) -> Sum:
    """Return a total with a confidence that says whether net and tax make it."""
    confidence = total.confidence
    parts = statements.parts(total.value)
    if parts:
        confidence += parts.bonus
    elif any(_fits_its_rate(tax, total.value) for tax in statements.taxes):
        confidence += 0.1
    elif statements.has_parts():
        confidence *= 0.75
    return replace(total, confidence=confidence)


def _confirmed(total: Sum, said: Sequence[Sum]) -> Sum:
    """Return a total surer if it stands in two places, or two other sums beside it make it."""
    places = {each.spot for each in said if each.value == total.value}
    others = {each.value for each in said} - {total.value, Decimal(0)}
    is_made = any(total.value - each in others - {each} for each in others)
    return replace(total, confidence=total.confidence + AGREED * (len(places) > 1 or is_made))


def _is_share(net: Decimal, tax: Sum) -> bool:
    """Tell whether a tax is what the rate beside it makes of the net."""
    return tax.rate is not None and adds_up(round(net * tax.rate / 100, 2), tax.value)


def _fits_its_rate(tax: Sum, total: Decimal) -> bool:
    """Tell whether a tax is, at its stated rate, contained in this total alone."""
    if not tax.rate or not tax.value:
        return False
    return adds_up(round(total * tax.rate / (100 + tax.rate), 2), tax.value)


def _net_and_tax(statements: Statements, total: Decimal) -> tuple[Found | None, Found | None]:
    """Return the net and the tax that make the total; else each if nothing speaks against it."""
    document = statements.document
    parts = statements.parts(total)
    if parts:
        sure = 0.72 + 0.8 * parts.bonus
        return choose(document, [parts.net.candidate(sure)]), _tax(document, parts, sure)
    taxes = [tax for tax in statements.taxes if abs(tax.value) < abs(total) or not total]
    tax = _lone_tax(document, total, taxes)
    if tax is None:
        equal = [net.candidate(0.8) for net in statements.nets if net.value == total]
        return choose(document, equal if not taxes else []), None
    return _remainder(statements, total - Decimal(tax.value)) if Decimal(tax.value) else None, tax


def _remainder(statements: Statements, rest: Decimal) -> Found | None:
    """Return the net that total and tax leave, where that very sum is printed."""
    for less in (Decimal(0), *(abs(each.value) for each in statements.withheld)):
        if net := printed(statements.document, rest + less):
            return choose(statements.document, [net.candidate(0.55)])
    return None


def _tax(document: Document, parts: Parts, sure: float) -> Found | None:
    """Return the tax, which may be the sum of several rows that are then all cited."""
    words = "; ".join(tax.words for tax in parts.taxes)
    sure -= 0.02 * (len(parts.taxes) - 1)
    candidate = Candidate(f"{parts.tax:f}", sure, parts.taxes[0].spot, words)
    return choose(document, [candidate])


def _lone_tax(document: Document, total: Decimal, taxes: Sequence[Sum]) -> Found | None:
    """Return the tax of a document that states no net: the only one, or one that fits its rate."""
    fitting = [tax.candidate(0.9) for tax in taxes if _fits_its_rate(tax, total)]
    if fitting:
        return choose(document, fitting)
    if len({tax.value for tax in taxes}) == 1:
        return choose(document, [tax.candidate(tax.confidence - 0.15) for tax in taxes])
    return None
