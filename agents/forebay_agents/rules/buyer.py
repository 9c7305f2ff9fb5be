"""Find to whom a document goes: under a label, before 御中, or in the window of the envelope."""

import re
from collections.abc import Iterator

from forebay_agents.findings import Found
from forebay_agents.rules.blocks import PERSON, address_blocks, has_address, has_contact, has_value
from forebay_agents.rules.candidates import Candidate, found
from forebay_agents.rules.names import (
    HONORIFIC,
    POLITE,
    clean_name,
    companies,
    core,
    is_address,
    is_name,
)
from forebay_agents.rules.parties import CLEAR, labelled
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot

NARROW = 300
"""Pages narrower than this, in points, are no letters."""

WINDOW = 0.06, 0.45
"""From where to where from the top of the page an address without a label stands."""


def find_labelled_buyer(document: Document, kind: str) -> Found | None:
    """Return the name that a label or 御中 says is the buyer's, if that is clear.

    The holder of an account is who its statement goes to.
    """
    holders = [] if kind != "statement" else [*labelled(document, "payee", 0.85), *_named(document)]
    for candidates in (labelled(document, "buyer", 0.88), holders, _polite(document)):
        offered = [each for each in candidates if each.confidence > CLEAR]
        if offered:
            return found(document, max(offered, key=_worth))
    return None


def _worth(candidate: Candidate) -> float:
    """Return how sure a candidate is, where a company counts more than a person of it."""
    return candidate.confidence + 0.1 * any(True for _ in companies(candidate.value))


def find_addressed_buyer(document: Document, seller: str | None) -> Found | None:
    """Return whom weaker signs name: a common word, an address like a letter's, a delivery."""
    for candidates in (
        labelled(document, "buyer", 0.88),
        _in_window(document, seller),
        labelled(document, "receiver", 0.6),
    ):
        offered = [each for each in candidates if not seller or core(each.value) != core(seller)]
        if offered:
            return found(document, max(offered, key=lambda each: each.confidence))
    return None


def _named(document: Document) -> Iterator[Candidate]:
    """Yield the name after the label 'Name', where there is one such label only."""
    asked = [pair for pair in document.questions("party", "name") if pair[1].start <= 1]
    for spot, label in asked if len(asked) == 1 else []:
        text, place = next(iter(document.after(spot, label)), ("", spot))
        if name := clean_name(text):
            yield Candidate(name, 0.8, place, f"{spot.text} {text}")


def _polite(document: Document) -> Iterator[Candidate]:
    """Yield the names that 御中 or 様 follow, in the same spot or in the next."""
    for spot in document.first:
        right = document.row(spot)[spot.column + 1 : spot.column + 2]
        is_next = bool(right) and POLITE.fullmatch(right[0].text) is not None
        if is_next or (
            POLITE.search(spot.text) and not re.match(r".{0,3}(?:お客|皆)様", spot.text)
        ):
            name = clean_name(spot.text)
            if name:
                yield Candidate(name, 0.9, spot, spot.text + ("" if not is_next else right[0].text))


def _in_window(document: Document, seller: str | None) -> Iterator[Candidate]:
    """Yield the name in the address that stands where envelopes have their window."""
    page = document.page(document.first[0]) if document.first else None
    if page is None or page.width < NARROW or not page.height:
        return
    top, bottom = WINDOW
    for lines in address_blocks(document):
        first = lines[0]
        if document.is_below_items(first):
            return
        is_inside = top < first.box[1] / page.height < bottom
        if not is_inside or (seller is None and has_contact(lines)):
            continue
        lines = [line for line in _without_sender(lines) if not has_value(document, line)]
        named = ((clean_name(line.text, is_loose=True), line) for line in lines[:2])
        name, place = next((pair for pair in named if pair[0]), (None, first))
        is_own = seller and any(core(seller) in core(line.text) for line in lines)
        if not name or is_own:
            continue
        if has_address(lines) or PERSON.match(lines[0].text):
            company = bool(list(companies(name)))
            sure = (
                0.62
                - 0.06 * has_contact(lines)
                + 0.06 * company
                + 0.08 * bool(HONORIFIC.match(lines[0].text))
                + 0.08 * (seller is not None)
            )
            yield Candidate(name, sure, place, place.text)


def _without_sender(lines: list[Spot]) -> list[Spot]:
    """Leave out the small line that gives the sender's address above the receiver's."""
    if len(lines) > 2 and is_address(lines[0].text) and not is_name(lines[0].text):
        return lines[1:]
    return lines
