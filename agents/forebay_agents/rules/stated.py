"""Read the sums that stand beside their labels, whatever they turn out to mean."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from forebay_agents.rules.amounts import Amount, amounts, only_amounts
from forebay_agents.rules.candidates import Candidate
from forebay_agents.rules.dates import readings
from forebay_agents.rules.labels import RATE, Label
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot, is_remark

LETTERS_WITHIN, LETTERS_BESIDE = 20, 3
"""How many letters may stand with a sum: 'auf' after the label, 'TTC' in a spot of its own."""


ASIDE = re.compile(r"\([^)]*[^\W\d][^)]*\)?")
"""What stands in brackets after a sum: '74,80 € (inkl. 11,94 € MwSt.)'."""

LEAST_SHARE, MOST_SHARE = Decimal("0.02"), Decimal("0.28")
"""Between which shares of the net taxes lie."""


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


def stated(document: Document, name: str, confidence: float) -> Iterator[Sum]:
    """Yield the sum of each label with this name: beside it, in the column below, or before it.

    A column gives its first sum, its last, and all of them added.
    """
    for spot, label in (*document.questions("amount", name), *_trailing(document, name)):
        sure = confidence - 0.1 * label.means("amount", "other") - 0.12 * (not label.leads)
        beside = list(_beside(document, spot, label))
        before = only_amounts(spot.text[: label.start], 99)[-1:] if _closes(spot, label) else []
        if before:
            yield _sum(document, spot, before[0], spot, sure)
        elif beside:
            has_words = len(re.findall(r"[^\W\d]{3,}", _before(spot, label))) > 0
            yield _sum(document, spot, *_chief(document, beside, name), sure - 0.08 * has_words)
        elif column := _column(document, spot, label):
            yield from _of_column(document, spot, column, sure - 0.02)
        else:
            for amount, place in _around(document, spot, label):
                yield _sum(document, spot, amount, place, sure - 0.06)


def _closes(spot: Spot, label: Label) -> bool:
    """Tell whether a tax stands in brackets after the total: '… (inkl. 11,94 € MwSt.)'."""
    is_tax = label.means("amount", "tax") and label.start > 0
    return is_tax and re.match(r"\W*\)", spot.text[label.end :]) is not None


def _trailing(document: Document, name: str) -> Iterator[tuple[Spot, Label]]:
    """Yield labels that end a few words of their own, or a sentence: 'Fees total', 'the sum of'."""
    if name not in ("total", "sum", "amount", "tax"):
        return
    for spot in document.spots:
        for label in spot.labels[-1:]:
            is_last = is_remark(spot.text[label.end :])
            is_short = label.start < 25 and not re.search(r"\d", spot.text[: label.start])
            is_spoken = name == "amount" and label.end - label.start >= 9
            if label.leads or not label.means("amount", name):
                continue
            is_plain = is_last and is_short and name in ("total", "sum")
            if is_plain or is_spoken or _closes(spot, label):
                yield spot, label


def pairs(document: Document) -> Iterator[tuple[Sum, Sum]]:
    """Yield any two sums in a row that names a tax rate or a total: there net and tax may be."""
    for sheet in document.sheets:
        for above, row in pairwise([[], *sheet]):
            is_headed = sum(_names_sum(spot) for spot in above) > 1
            if not (is_headed or any(RATE.search(spot.text) or _names_sum(spot) for spot in row)):
                continue
            sums = [
                _sum(document, row[0], amount, spot, 0.7)
                for spot in row
                for amount in only_amounts(_without_label(spot), LETTERS_BESIDE)
            ]
            for index, one in enumerate(sums[:4]):
                for other in sums[index + 1 : 5]:
                    larger, smaller = sorted((one, other), key=lambda each: -abs(each.value))
                    yield larger, smaller


def spoken(document: Document, name: str, confidence: float) -> Iterator[Sum]:
    """Yield the sums after labels that other words stand before: 'Your amount due is $5.00'."""
    for spot in document.spots:
        for label in spot.labels:
            if label.leads or not label.means("amount", name) or label.end - label.start < 6:
                continue
            for amount in list(amounts(spot.text[label.end :]))[:1]:
                if amount.sign or amount.has_decimals():
                    yield _sum(document, spot, amount, spot, confidence)


def dated(document: Document) -> Iterator[Sum]:
    """Yield the only sum beside a day until which to pay: 'Te betalen vóór 31 maart € 402,15'."""
    for spot in document.spots:
        is_due = any(label.leads and label.means("date", "due") for label in spot.labels[:1])
        if is_due and next(readings(spot.text), None):
            row = [each for each in document.row(spot) if each is not spot]
            sums = [(amount, each) for each in row for amount in only_amounts(each.text)]
            if len(sums) == len(row) == 1 and sums[0][0].sign:
                yield _sum(document, spot, *sums[0], 0.6)


def fitting(document: Document) -> Iterator[tuple[Sum, Sum, Sum]]:
    """Yield the last net, tax and total that fit each other, with or without labels.

    They follow each other in a row or below each other, and the tax is a likely share of the net.
    """
    sums = [
        _sum(document, spot, amount, spot, 0.6)
        for spot in document.spots
        for amount in only_amounts(_without_label(spot), LETTERS_WITHIN)
        if amount.has_decimals() or document.is_whole
    ]
    for net, tax, total in reversed(list(zip(sums, sums[1:], sums[2:], strict=False))):
        is_share = net.value and LEAST_SHARE <= tax.value / net.value <= MOST_SHARE
        if is_share and net.value + tax.value == total.value:
            yield net, tax, total
            return


def signed(document: Document) -> Iterator[Sum]:
    """Yield the sums with a currency, wherever they stand."""
    for spot in document.spots:
        for amount in amounts(spot.text):
            if amount.sign:
                yield _sum(document, spot, amount, spot, 0.5)


def printed(document: Document, value: Decimal) -> Sum | None:
    """Return where a value stands on its own, if it is printed anywhere."""
    for spot in document.spots:
        for amount in only_amounts(spot.text, LETTERS_BESIDE):
            if amount.value(document.mark) == value and (amount.has_decimals() or amount.sign):
                return _sum(document, spot, amount, spot, 0.6)
    return None


def _beside(document: Document, spot: Spot, label: Label) -> Iterator[tuple[Amount, Spot]]:
    for text, place in document.after(spot, label):
        text = text if label.means("amount", "tax", "included") else ASIDE.sub(" ", text)
        for reading in list(readings(text)) if place is spot else []:
            text = text[: reading.start] + " " * (reading.end - reading.start) + text[reading.end :]
        for amount in only_amounts(text, LETTERS_WITHIN if place is spot else LETTERS_BESIDE):
            yield amount, place


def _before(spot: Spot, label: Label) -> str:
    """Return the words between a label and the first digit after it: 'fees', in 'Total fees'."""
    return re.split(r"[\d(]", spot.text[label.end :])[0] if label.means("amount", "sum") else ""


def _chief(document: Document, beside: list[tuple[Amount, Spot]], name: str) -> tuple[Amount, Spot]:
    """Return the last sum of a row, or else the one that the others make in a row of totals."""
    values = [amount.value(document.mark) for amount, _ in beside]
    is_total = name in ("total", "sum", "payable") and len(values) > 2
    if is_total and sum(values[:-1]) != values[-1] and sum(values) == 2 * max(values):
        return beside[values.index(max(values))]
    return beside[-1]


def _column(document: Document, spot: Spot, label: Label) -> list[tuple[Amount, Spot]]:
    """Return the sums in the column under a label, as long as there are some."""
    if document.is_head(document.row(spot)) or not is_remark(spot.text[label.end :]):
        return []
    column: list[tuple[Amount, Spot]] = []
    last = spot
    while under := document.below(last):
        found = [
            (amount, each) for each in under for amount in only_amounts(each.text, LETTERS_BESIDE)
        ]
        if not found:
            break
        column.append(found[0])
        last = found[0][1]
    return column


def _of_column(
    document: Document, spot: Spot, column: Sequence[tuple[Amount, Spot]], confidence: float
) -> Iterator[Sum]:
    first = _sum(document, spot, *column[0], confidence - 0.1 * (len(column) > 1))
    yield first
    if len(column) > 1:
        yield _sum(document, spot, *column[-1], confidence - 0.1)
        values = (amount.value(document.mark) for amount, _ in column)
        yield replace(first, value=sum(values, Decimal(0)), confidence=confidence - 0.15)


def _around(document: Document, spot: Spot, label: Label) -> list[tuple[Amount, Spot]]:
    """Return the sum that stands just before a label, or a little above or below its row."""
    before = only_amounts(spot.text[: label.start])
    if before:
        return [(before[-1], spot)]
    for each in document.level(spot):
        found = only_amounts(each.text, LETTERS_BESIDE)
        if found:
            return [(found[-1], each)]
    return []


def _names_sum(spot: Spot) -> bool:
    return any(label.leads and label.means("amount") for label in spot.labels)


def _without_label(spot: Spot) -> str:
    """Return the text after a label that begins a spot."""
    label = spot.labels[0] if spot.labels and spot.labels[0].start <= 1 else None
    return spot.text[label.end :] if label else spot.text


def _sum(document: Document, spot: Spot, amount: Amount, place: Spot, confidence: float) -> Sum:
    said = spot.text if place is spot else f"{spot.text} {place.text}"
    if not (amount.has_decimals() or amount.sign or document.is_whole):
        confidence *= 0.55
    rate = RATE.search(" ".join(each.text for each in document.row(spot)))
    percent = Decimal(re.sub(r"[^\d.]", "", rate[0].replace(",", "."))) if rate else None
    return Sum(amount.value(document.mark), amount.sign, confidence, place, said, percent)
