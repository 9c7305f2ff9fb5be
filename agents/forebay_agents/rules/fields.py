"""Find the fields of a document by their labels and places: what pages do not say stays absent."""

import re
from collections.abc import Sequence

from forebay_agents.findings import Found, Name
from forebay_agents.pages import Page
from forebay_agents.rules.buyer import find_addressed_buyer, find_labelled_buyer
from forebay_agents.rules.due import find_due_date
from forebay_agents.rules.kind import SUMS, find_kind
from forebay_agents.rules.language import find_language
from forebay_agents.rules.money import find_currency
from forebay_agents.rules.numbers import find_number
from forebay_agents.rules.places import Document
from forebay_agents.rules.seller import find_labelled_seller, find_orderer, find_seller, is_company
from forebay_agents.rules.totals import find_totals
from forebay_agents.rules.when import Calendar, find_date

VENDOR = re.compile(
    r"vendor|supplier|lieferant|fournisseur|proveedor|fornitore|fornecedor|leverancier|発注先|仕入先",
    re.IGNORECASE,
)
"""How an order names the one that is to deliver."""

DUE = ("", "invoice", "statement", "receipt")


def find_fields(pages: Sequence[Page]) -> dict[Name, Found]:
    """Return the fields that `pages` state, each with its evidence.

    A field that is missing, ambiguous or said in two ways is left out.
    """
    document = Document(pages)
    if not document.spots:
        return {}
    language = find_language(document)
    kind = find_kind(document)
    name = kind.value if kind else ""
    calendar = Calendar(document, language.value if language else None)
    day = find_date(document, calendar, name)
    found: dict[Name, Found | None] = {
        "kind": kind,
        "number": find_number(document, name),
        "date": day,
        "due_date": find_due_date(document, calendar, day) if name in DUE else None,
        **(_sums(document, name) if name in SUMS or kind is None else {}),
        "language": language,
    }
    if kind or found.get("total"):
        found |= _parties(document, name)
    return {field: value for field, value in found.items() if value is not None}


def _sums(document: Document, kind: str) -> dict[Name, Found | None]:
    totals = find_totals(document, kind)
    total = totals.fields.get("total")
    is_priced = total is not None or kind not in ("", "contract")
    currency = find_currency(document, total, totals.sign) if is_priced else None
    return {"currency": currency, **totals.fields}


def _parties(document: Document, kind: str) -> dict[Name, Found | None]:
    """Find seller and buyer, each of which helps to tell the other.

    A buyer that a label names comes first. Else the seller does, unless that leaves no buyer: then
    it may be the buyer's address that was taken for a letterhead. Orders name the seller, and have
    the buyer in their letterhead.
    """
    if kind in ("report", "form"):
        return {}
    labelled = find_labelled_buyer(document, kind)
    if kind == "contract":
        return {"seller": find_labelled_seller(document), "buyer": labelled}
    vendor = find_labelled_seller(document) if kind == "order" else None
    if vendor and VENDOR.match(vendor.evidence.text):
        orderer = None if labelled and is_company(labelled) else find_orderer(document, vendor)
        return {"seller": vendor, "buyer": orderer or labelled}
    if labelled:
        return {"seller": find_seller(document, labelled.value), "buyer": labelled}
    seller = find_seller(document)
    buyer = find_addressed_buyer(document, seller.value if seller else None)
    if seller and not buyer and (addressed := find_addressed_buyer(document, None)):
        other = find_seller(document, addressed.value)
        if other and addressed.value == seller.value:
            return {"seller": other, "buyer": addressed}
    return {"seller": seller, "buyer": buyer}
