"""Tell what kind of document it is: by its title, or else by the number that it has."""

import re
from collections.abc import Iterator

from forebay_agents.findings import Found
from forebay_agents.rules import currencies, words
from forebay_agents.rules.amounts import only_amounts
from forebay_agents.rules.blocks import has_value
from forebay_agents.rules.candidates import Candidate, found
from forebay_agents.rules.labels import Label, find_labels
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot
from forebay_agents.rules.text import JAPANESE, letters

TITLE_ROWS = 45
"""In how many rows of the first page the title is looked for."""

SUMS = ("invoice", "credit_note", "receipt", "statement", "quote", "order", "contract")
"""The kinds of document whose sums are looked for."""

BEFORE = re.compile(
    r"(?:(?:[A-ZÄÖÜÉÀ0-9][\w&'.-]*|of|de|für|and|und|et|&|the|your|ihre?|votre|tu|su|la|uw)[\s/]+){0,4}[\u3040-\u9fff・ー]{0,14}",
)
"""What may stand before a kind in a title: 'Master Services Agreement', 'Ihre Rechnung'."""

YOURS = re.compile(r"(?:your|ihre?|votre|su|la sua|la tua|a sua|uw|je|tu)\s", re.IGNORECASE)

AFTER = re.compile(
    r"\s*(?:(?:[A-ZÀ-Þ][\w'’-]*\s+){0,3}(?i:"
    r"\(?\d{4}\)?|[(\[][^)\]]*[)\]]|(?:of|for|de|über|vom|für|zu|zur|zum|du|del|dal|van|voor|pour|para|from|von|der|di|d')\b.*"
    r"|[-–—:/#|·•,・]\s*.*|.{0,8}\d.*|控え?|在中|様式.*|)|(?:[A-ZÀ-Þ][\w'’-]*\s*){1,3})",
)

PAID = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, words.of_names('line', 'paid')))})(?!\w)|お釣|お預",
    re.IGNORECASE,
)
"""How receipts say that they were paid."""

ROLL = 300
"""Pages narrower than this, in points, come from the printers of tills."""

TITLES = ("kind", "number", "date")
"""The groups of labels that a title may be: 'Invoice', 'Invoice no.', 'Rechnung vom'."""

NO_KINDS = ("any", "other", "due", "reference")
"""The names of labels for numbers and dates that say nothing about the kind."""

WEAK = {"form", "report", "order", "statement", "contract"}
"""Kinds whose words also head parts of other documents."""


def find_kind(document: Document) -> Found | None:
    """Return the kind that the best title names, or that a number's label implies."""
    titles = list(_titles(document))
    if titles:
        title = max(titles, key=lambda title: title.confidence)
        return _paid_at_a_till(document, title) or found(document, title)
    for group, factor in (("number", 0.6), ("date", 0.55)):
        for name in (*SUMS, "delivery_note"):
            for spot, label in document.questions(group, name):
                if not label.means(group, "any", "other"):
                    return found(document, Candidate(name, factor, spot, spot.text))
    return _by_payment(document)


def _paid_at_a_till(document: Document, title: Candidate) -> Found | None:
    """Tell a receipt that calls itself an invoice: printed at a till, and paid there."""
    is_narrow = 0 < document.page(title.spot).width < ROLL
    paid = next((spot for spot in document.spots if PAID.search(spot.text)), None)
    if title.value != "invoice" or not is_narrow or paid is None:
        return None
    return found(document, Candidate("receipt", 0.6, paid, paid.text))


def _by_payment(document: Document) -> Found | None:
    """Tell a receipt by how it was paid, and an invoice by when it is to be paid."""
    totals = [spot for spot, _ in document.questions("amount", "total", "sum", "payable")]
    if not totals:
        return None
    due = next((spot for spot, _ in document.questions("date", "due")), None)
    if due is not None:
        return found(document, Candidate("invoice", 0.5, due, due.text))
    page = document.page(document.first[0])
    paid = next((spot for spot in document.spots if PAID.search(spot.text)), None)
    if paid is not None or 0 < page.width < ROLL:
        spot = paid or totals[0]
        return found(document, Candidate("receipt", 0.55, spot, spot.text))
    if not re.search(currencies.pattern(), document.text):
        return None
    owed = next((spot for spot, _ in document.questions("amount", "payable")), None)
    if owed is not None:
        return found(document, Candidate("invoice", 0.45, owed, owed.text))
    taxed = next((spot for spot, _ in document.questions("amount", "tax", "included")), None)
    return found(document, Candidate("invoice", 0.45, taxed, taxed.text)) if taxed else None


def _titles(document: Document) -> Iterator[Candidate]:
    for spot in document.first:
        if spot.row >= TITLE_ROWS:
            return
        if document.is_head(document.row(spot)):
            continue
        for label in spot.labels:
            for name in sorted({name for group, name in label.meanings if group in TITLES}):
                if name in NO_KINDS:
                    continue
                confidence = _confidence(document, spot, label, name)
                if confidence:
                    yield Candidate(name, confidence, spot, spot.text)


def _confidence(document: Document, spot: Spot, label: Label, name: str) -> float:
    """Return how surely a label is the title; 0 when it stands in a sentence or names a value."""
    before, after = spot.text[: label.start], spot.text[label.end :]
    word = spot.text[label.start : label.end]
    is_kind = label.means("kind", name) or _begins_with_kind(word, name)
    is_plain = word[:1].islower() and not JAPANESE.match(word) and not YOURS.fullmatch(before)
    if is_plain or not BEFORE.fullmatch(before) or letters(before) > 40:
        return 0.0
    if not is_kind:
        return 0.0 if before.strip() or not _is_big(document, spot) else 0.7
    if not AFTER.fullmatch(after):
        return 0.0
    is_alone = not re.search(r"\w", after) or after.strip().startswith("/")
    if is_alone and not label.means("kind", name) and not _is_big(document, spot):
        return 0.0
    confidence = 0.72 if is_alone else 0.6
    confidence += 0.12 * _is_big(document, spot) + 0.06 * (
        word.isupper() and not JAPANESE.match(word)
    )
    confidence += 0.05 * (is_alone and not before.strip()) + 0.05 * _has_number(document, name)
    confidence -= 0.05 * (name in WEAK) + 0.008 * spot.row + 0.2 * _is_in_table(document, spot)
    confidence -= 0.15 * (len(document.row(spot)) > 2) + 0.1 * (label is not spot.labels[0])
    confidence -= 0.3 * (is_alone and not _is_big(document, spot) and has_value(document, spot))
    return min(confidence, 0.98)


def _is_in_table(document: Document, spot: Spot) -> bool:
    """Tell whether a sum stands in the same row, so that it is an item rather than a title."""
    return any(
        amount.has_decimals()
        for other in document.row(spot)
        if other is not spot
        for amount in only_amounts(other.text)
    )


def _begins_with_kind(words_of_label: str, name: str) -> bool:
    """Tell whether a label for a number or a date begins with the kind: 'Facture n°'."""
    first = find_labels(words_of_label.split()[0])
    return any(label.means("kind", name) for label in first)


def _is_big(document: Document, spot: Spot) -> bool:
    return spot.height >= 1.25 * document.size


def _has_number(document: Document, name: str) -> bool:
    return any(True for _ in document.questions("number", name))
