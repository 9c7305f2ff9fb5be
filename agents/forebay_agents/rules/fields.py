"""Find the fields of a document by their labels and places: what pages do not say stays absent."""

import re
import traceback
from collections.abc import Callable, Sequence
from functools import partial

from forebay.logs import EventLog
from forebay_agents.findings import NAMES, Found, Name
from forebay_agents.pages import Page
from forebay_agents.rules.buyer import find_addressed_buyer, find_labelled_buyer
from forebay_agents.rules.calendars import Calendar
from forebay_agents.rules.due import find_due_date
from forebay_agents.rules.kind import SUMS, find_kind
from forebay_agents.rules.language import find_language
from forebay_agents.rules.money import find_currency
from forebay_agents.rules.numbers import find_number
from forebay_agents.rules.places import Document
from forebay_agents.rules.seller import find_labelled_seller, find_orderer, find_seller, is_company
from forebay_agents.rules.text import JAPANESE
from forebay_agents.rules.totals import find_totals
from forebay_agents.rules.when import find_date

VENDOR = re.compile(
    r"vendor|supplier|lieferant|fournisseur|proveedor|fornitore|fornecedor|leverancier|発注先|仕入先",
    re.IGNORECASE,
)
"""How an order names the one that is to deliver."""

log = EventLog(__name__)

Group = dict[Name, Found | None]
"""Fields that are looked for together."""

ONE_WORD = 0.8
"""What is left of the confidence in a name of one word."""

DUE = ("", "invoice", "statement", "receipt")


def find_fields(pages: Sequence[Page], notes: list[str] | None = None) -> dict[Name, Found]:
    """Return the fields that `pages` state, each with its evidence.

    A field that is missing, ambiguous or said in two ways is left out. So are the fields of a group
    whose search fails on an odd page; `notes` get a sentence about it.
    """
    document = Document(pages)
    if not document.spots:
        return {}
    look = partial(_look, [] if notes is None else notes)
    found = look("the language", lambda: {"language": find_language(document)})
    found |= look("the kind", lambda: {"kind": find_kind(document)})
    kind = found["kind"].value if found.get("kind") else ""
    found |= look("the number", lambda: {"number": find_number(document, kind)})
    found |= look("the dates", lambda: _dates(document, kind, found.get("language")))
    found |= look("the sums", lambda: _sums(document, kind))
    if kind or found.get("total"):
        found |= look("the parties", lambda: _weighed(_parties(document, kind)))
    return {field: found[field] for field in NAMES if field in found}


def _look(notes: list[str], what: str, search: Callable[[], Group]) -> dict[Name, Found]:
    """Return what a group of fields has, and nothing but a note where its search fails."""
    try:
        return {name: value for name, value in search().items() if value is not None}
    except Exception as error:
        log.error("rules_failed", what=what, error=repr(error))
        traceback.print_exception(error)
        notes.append(f"Looking for {what} failed: that is a bug of the agent.")
        return {}


def _dates(document: Document, kind: str, language: Found | None) -> Group:
    calendar = Calendar(document, language.value if language else None)
    day = find_date(document, calendar, kind)
    due = find_due_date(document, calendar, day) if kind in DUE else None
    return {"date": day, "due_date": due}


def _sums(document: Document, kind: str) -> Group:
    if kind and kind not in SUMS:
        return {}
    totals = find_totals(document, kind)
    is_priced = totals.total is not None or kind not in ("", "contract")
    currency = find_currency(document, totals.total) if is_priced else None
    is_money = bool(kind) or currency is not None
    return {"currency": currency, **totals.fields} if is_money else {}


def _weighed(parties: Group) -> Group:
    """Return the parties, less sure where a name is one word: a title or a place may be, too."""
    return {
        name: party.with_confidence(round(party.confidence * ONE_WORD, 3))
        if party and _is_one_word(party.value)
        else party
        for name, party in parties.items()
    }


def _is_one_word(name: str) -> bool:
    return len(name.split()) == 1 and not JAPANESE.search(name)


def _parties(document: Document, kind: str) -> Group:
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
