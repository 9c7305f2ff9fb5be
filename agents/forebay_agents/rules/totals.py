"""Find what a document comes to: total, net and tax, and whether they add up."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from forebay_agents.findings import Found, Name
from forebay_agents.rules.amounts import Amount, only_amounts
from forebay_agents.rules.candidates import Candidate, choose
from forebay_agents.rules.labels import RATE, Label
from forebay_agents.rules.places import Document, Spot, is_remark

CLOSE = Decimal("0.02")
"""How far a sum of rounded sums may be off."""

LETTERS = 14
"""How many letters may stand between a label and its sum: 'auf', 'payable in'."""

TIERS: dict[str, tuple[tuple[str, float], ...]] = {
    "statement": (("closing", 0.92), ("payable", 0.7), ("total", 0.6)),
    "receipt": (("total", 0.88), ("sum", 0.8), ("paid", 0.66), ("payable", 0.78), ("amount", 0.6)),
    "": (("total", 0.88), ("payable", 0.78), ("sum", 0.75), ("amount", 0.45), ("paid", 0.4)),
}
"""Which labels name the total in a document of a kind, and how surely."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum beside its label. `rate` is the tax rate that stands with it, in percent."""

    value: Decimal
    sign: str | None
    confidence: float
    spot: Spot
    words: str
    rate: Decimal | None = None

    def candidate(self, confidence: float) -> Candidate:
        """Return it as a candidate for a field."""
        return Candidate(f"{self.value:f}", confidence, self.spot, self.words)


@dataclass(frozen=True, slots=True)
class Totals:
    """What was found, and the sign of the currency beside the total."""

    fields: dict[Name, Found]
    sign: str | None


def find_totals(document: Document, kind: str) -> Totals:
    """Return total, net and tax as far as they are stated; sums that add up are taken first."""
    totals = _totals(document, kind)
    nets, taxes = ([], []) if kind == "statement" else (_nets(document), _taxes(document))
    best = _best(totals, nets, taxes)
    total = choose(document, [each.candidate(each.confidence) for each in best])
    fields: dict[Name, Found] = {}
    if total is None:
        return Totals(fields, None)
    fields["total"] = total
    value = Decimal(total.value)
    net, tax = _net_and_tax(document, value, nets, taxes)
    if net:
        fields["total_net"] = net
    if tax:
        fields["tax"] = tax
    signs = [each.sign for each in best if each.value == value and each.sign]
    return Totals(fields, signs[0] if signs else None)


def _totals(document: Document, kind: str) -> list[Sum]:
    found = []
    for name, confidence in TIERS.get(kind, TIERS[""]):
        sums = list(_sums(document, name, confidence))
        if name == "closing":
            sums = sums[-1:]
        found += sums
    is_any = any(each.value for each in found)
    return [each for each in found if each.value or not is_any]


def _nets(document: Document) -> list[Sum]:
    return list(_sums(document, "net", 0.85, columns=True))


def _taxes(document: Document) -> list[Sum]:
    return [
        *_sums(document, "tax", 0.85, columns=True),
        *_sums(document, "included", 0.85, columns=True),
    ]


def _best(totals: list[Sum], nets: list[Sum], taxes: list[Sum]) -> list[Sum]:
    """Return the totals with a confidence that says whether net and tax make them."""
    combined = {net.value + tax for net in nets for tax in _tax_sums(taxes)}
    counts = [each.value for each in totals]
    checked = []
    for each in totals:
        if any(abs(each.value - made) <= CLOSE for made in combined) and combined:
            confidence = max(0.97, each.confidence)
        elif _fits_a_rate(each.value, taxes):
            confidence = max(0.93, each.confidence)
        elif combined and each.confidence > 0.6 and len({net.value for net in nets}) == 1:
            confidence = each.confidence * 0.75
        else:
            confidence = each.confidence + 0.02 * (counts.count(each.value) > 1)
        checked.append(replace(each, confidence=confidence))
    return checked


def _tax_sums(taxes: Sequence[Sum]) -> list[Decimal]:
    """Return each tax by itself, all of them together, and any two of them."""
    values = list(dict.fromkeys((tax.spot.page, tax.spot.row, tax.value) for tax in taxes))
    singles = list(dict.fromkeys(value for _, _, value in values))[:12]
    together = [sum(singles, Decimal(0))] if len(singles) > 1 else []
    return [*singles, *together, *(one + other for one, other in combinations(singles, 2))]


def _fits_a_rate(total: Decimal, taxes: Iterable[Sum]) -> bool:
    """Tell whether a tax at its stated rate belongs to this total alone."""
    return any(
        tax.rate and tax.value and abs(total * tax.rate / (100 + tax.rate) - tax.value) <= CLOSE
        for tax in taxes
    )


def _net_and_tax(
    document: Document, total: Decimal, nets: list[Sum], taxes: list[Sum]
) -> tuple[Found | None, Found | None]:
    """Return the net and the tax that make the total; else each if nothing speaks against it."""
    smaller = [tax for tax in taxes if abs(tax.value) < abs(total) or not total]
    for net in nets:
        for tax in _tax_sums(smaller):
            if abs(net.value + tax - total) <= CLOSE:
                return choose(document, [net.candidate(0.97)]), _tax(document, smaller, tax, 0.97)
    alone = _lone_tax(document, total, smaller)
    if alone is None and not smaller:
        equal = [net.candidate(0.8) for net in nets if net.value == total]
        return choose(document, equal), None
    return None, alone


def _lone_tax(document: Document, total: Decimal, taxes: list[Sum]) -> Found | None:
    """Return the tax of a document that states no net: the only one, or one that fits its rate."""
    fitting = [tax for tax in taxes if _fits_a_rate(total, [tax])]
    if fitting:
        return choose(document, [tax.candidate(0.93) for tax in fitting])
    values = list(dict.fromkeys(tax.value for tax in taxes))
    if len(values) == 1:
        return choose(document, [tax.candidate(0.7) for tax in taxes])
    biggest = max(values, key=abs, default=None)
    if biggest is not None and abs(sum(values) - 2 * biggest) <= CLOSE:
        return _tax(document, taxes, biggest, 0.8)
    return None


def _tax(document: Document, taxes: Sequence[Sum], value: Decimal, sure: float) -> Found | None:
    """Return a tax, which may be the sum of several rows that are then all cited."""
    single = [tax for tax in taxes if tax.value == value]
    if single:
        return choose(document, [single[0].candidate(sure)])
    parts = list({tax.value: tax for tax in taxes}.values())
    for count in (2, len(parts)):
        for some in combinations(parts, count):
            if sum((tax.value for tax in some), Decimal(0)) == value:
                words = "; ".join(tax.words for tax in some)
                return choose(document, [Candidate(f"{value:f}", sure - 0.02, some[0].spot, words)])
    return None


def _sums(document: Document, name: str, confidence: float, columns: bool = False) -> Iterator[Sum]:
    """Yield the sum beside each label, else the one below it, or with `columns` all below it."""
    for spot, label in document.questions("amount", name):
        row = document.row(spot)
        sure = confidence - 0.1 * (len(label.meanings) > 1 and label.means("amount", "other"))
        beside = list(_beside(document, spot, label))
        if beside:
            amount, place = beside[-1]
            yield _sum(document, spot, label, amount, place, sure)
            continue
        if document.is_head(row) or not is_remark(spot.text[label.end :]):
            continue
        below = list(_below(document, spot))
        for amount, place in below if columns else below[:1]:
            yield _sum(document, spot, label, amount, place, sure - 0.02)
        if columns and len(below) > 1:
            values = [amount.value(document.mark) for amount, _ in below]
            first = _sum(document, spot, label, *below[0], sure - 0.05)
            yield replace(first, value=sum(values, Decimal(0)))


def _beside(document: Document, spot: Spot, label: Label) -> Iterator[tuple[Amount, Spot]]:
    """Yield the sums after a label in its row."""
    for text, place in document.after(spot, label):
        for amount in only_amounts(text, LETTERS if place is spot else 3):
            yield amount, place


def _below(document: Document, spot: Spot) -> Iterator[tuple[Amount, Spot]]:
    """Yield the sums in the column under a label, as long as there are some."""
    last = spot
    while under := document.below(last):
        found = [(amount, each) for each in under for amount in only_amounts(each.text, 3)]
        if not found:
            return
        yield found[0]
        last = found[0][1]


def _sum(
    document: Document, spot: Spot, label: Label, amount: Amount, place: Spot, confidence: float
) -> Sum:
    said = spot.text if place is spot else f"{spot.text} {place.text}"
    if not (amount.has_decimals() or amount.sign or document.is_whole):
        confidence *= 0.55
    rate = RATE.search(" ".join(each.text for each in document.row(spot)))
    percent = Decimal(re.sub(r"[^\d.]", "", rate[0].replace(",", "."))) if rate else None
    return Sum(amount.value(document.mark), amount.sign, confidence, place, said, percent)
