"""Tell the currency of a document: beside its total, under a label, or the only one in use."""

import re
from collections.abc import Iterator

from forebay_agents.findings import Found
from forebay_agents.rules import currencies
from forebay_agents.rules.amounts import amounts
from forebay_agents.rules.candidates import Candidate, found
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot
from forebay_agents.rules.stated import Sum
from forebay_agents.rules.text import JAPANESE

BRACKETED = re.compile(rf"\((?:in |en )?{currencies.pattern()}\)")
LONG = 9
"""From how many letters on a label counts in the middle of a sentence."""

COMMON = frozenset(
    {"EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK", "PLN"}
)
"""Codes that are no words, so that they mean money in any heading."""


def find_currency(document: Document, total: Sum | None) -> Found | None:
    """Return the currency of the total, as far as the document makes it clear."""
    sign = total.sign if total else None
    said = _labelled(document)
    if sign and said and len(meant := currencies.meanings(sign)) > 1 and said.value in meant:
        return found(document, said)
    if total and sign and (candidate := _candidate(document, sign, total.spot, 1.0)):
        return found(document, candidate)
    if said:
        return found(document, said)
    used: dict[str, Candidate] = {}
    for spot, each in _signs(document):
        candidate = _candidate(document, each, spot, 0.8)
        if candidate:
            used.setdefault(candidate.value, candidate)
    if not used and total and document.is_whole and JAPANESE.search(document.text):
        return found(document, Candidate("JPY", 0.6, total.spot, total.spot.text))
    return found(document, used.popitem()[1]) if len(used) == 1 else None


def _labelled(document: Document) -> Candidate | None:
    """Return the currency that stands after a label, or in that of the total: 'Total (EUR)'."""
    for answers in document.answers("word", "currency"):
        for answer in answers[:2]:
            match = re.match(rf"\W*({currencies.pattern()})\W*$", answer.text)
            if match and (it := _candidate(document, match[1], answer.spot, 0.97)):
                return it
    for spot in document.spots:
        for label in spot.labels:
            is_long = label.end - label.start >= LONG
            if label.leads or not is_long or not label.means("word", "currency"):
                continue
            match = re.match(rf"\s({currencies.pattern()})", spot.text[label.end :])
            if match and (it := _candidate(document, match[1], spot, 0.93)):
                return it
    for spot, label in document.questions("amount", "total", "payable", "sum", "closing"):
        match = re.match(
            rf"\W*(?:in|en|em)?\W*({currencies.pattern()})", spot.text[label.end :]
        ) or re.search(rf"\s({currencies.pattern()})$", spot.text[: label.end])
        if match and (it := _candidate(document, match[1], spot, 0.93)):
            return it
    return None


def _signs(document: Document) -> Iterator[tuple[Spot, str]]:
    seen = set()
    for spot in document.spots:
        for amount in amounts(spot.text):
            if amount.sign and amount.sign not in seen:
                seen.add(amount.sign)
                yield spot, amount.sign
        is_whole = len(spot.text) < 8 or BRACKETED.search(spot.text) is not None
        for match in (
            re.finditer(currencies.pattern(), spot.text) if spot.labels or is_whole else ()
        ):
            sign = match[0]
            if sign not in seen and (is_whole or sign in COMMON or not sign.isupper()):
                seen.add(sign)
                yield spot, sign


def _candidate(document: Document, sign: str, spot: Spot, factor: float) -> Candidate | None:
    code, confidence = currencies.decide(sign, document.text, document.codes)
    return Candidate(code, confidence * factor, spot, spot.text) if code else None
