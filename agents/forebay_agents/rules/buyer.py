"""Find to whom a document goes: under a label, before 御中, or in the window of the envelope."""

import re
from collections.abc import Iterator

from forebay_agents.findings import Found
from forebay_agents.rules.blocks import address_blocks, block, has_contact
from forebay_agents.rules.candidates import Candidate, choose
from forebay_agents.rules.labels import Label
from forebay_agents.rules.names import (
    HONORIFIC,
    POLITE,
    POSTAL,
    clean_name,
    companies,
    core,
    is_address,
    is_name,
)
from forebay_agents.rules.places import Document, Spot
from forebay_agents.rules.text import JAPANESE

WINDOW = 0.06, 0.45
"""From where to where from the top of the page an address without a label stands."""


def find_buyer(document: Document, seller: str | None) -> Found | None:
    """Return the name of whom the document goes to; the seller is never it."""
    for candidates in (
        labelled(document, "buyer", 0.88),
        _polite(document),
        _in_window(document, seller),
    ):
        offered = [
            each for each in candidates if seller is None or core(each.value) != core(seller)
        ]
        if offered:
            best = max(each.confidence for each in offered)
            return choose(document, [next(each for each in offered if each.confidence == best)])
    return None


def labelled(document: Document, name: str, confidence: float) -> Iterator[Candidate]:
    """Yield the names that stand after or below labels for a party."""
    for spot, label in document.questions("party", name):
        for lines, sure in _lines(document, spot, label):
            named = next(
                (
                    (found, line)
                    for text, line in lines[:3]
                    if (found := clean_name(text)) or not HONORIFIC.fullmatch(text + " X")
                ),
                None,
            )
            if named and named[0]:
                value, line = named
                said = line.text if line is spot else f"{spot.text} {line.text}"
                weak = 0.12 * (len(spot.text[label.start : label.end]) < 4)
                other = 0.1 * (len({each for each in label.meanings if each[0] != "kind"}) > 1)
                yield Candidate(value, confidence * sure - weak - other, line, said)
                break


def _lines(
    document: Document, spot: Spot, label: Label
) -> Iterator[tuple[list[tuple[str, Spot]], float]]:
    """Yield the lines that may follow a label: after it, below it, and to its right."""
    after = document.after(spot, label)
    is_polite = HONORIFIC.match(spot.text[label.start :]) is not None
    if is_polite and (label.start > 1 or POSTAL.search(spot.text)):
        return
    rest, gap = spot.text[label.end :], spot.text[label.end : label.end + 3]
    if after and after[0][1] is spot:
        if ":" in gap or is_polite or JAPANESE.search(rest):
            yield [after[0]], 1.0
        return
    if label.start > 1:
        return
    right = [(text, each) for text, each in after if each.box[0] - spot.box[2] < 200]
    under = [each for each in document.below(spot) if _is_aligned(spot, each)]
    below = [(each.text, each) for each in block(document, under[0])] if under else []
    is_close = bool(under) and under[0].box[1] - spot.box[3] < 1.2 * spot.height
    is_exact = bool(under) and abs(under[0].box[0] - spot.box[0]) < 3
    options = [(below, 1.0), (right[:1], 0.97)]
    if right and not (
        is_close and is_exact and len(below) > 1 and not rest.strip().startswith(":")
    ):
        options.reverse()
    yield from (option for option in options if option[0])


def _is_aligned(upper: Spot, lower: Spot) -> bool:
    is_left = abs(lower.box[0] - upper.box[0]) < 30
    return is_left or abs(lower.box[2] - upper.box[2]) < 6


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
    if page is None or not page.width or not page.height:
        return
    top, bottom = WINDOW
    for lines in address_blocks(document):
        first = lines[0]
        is_inside = top < first.box[1] / page.height < bottom
        if not is_inside or has_contact(lines):
            continue
        lines = _without_sender(lines)
        name = next((name for line in lines[:2] if (name := clean_name(line.text, may_count=True))), None)
        is_own = seller and any(core(seller) in core(line.text) for line in lines)
        if name and not is_own and any(is_address(line.text) for line in lines[1:]):
            company = bool(list(companies(name)))
            sure = (
                0.62
                + 0.06 * company
                + 0.08 * bool(HONORIFIC.match(lines[0].text))
                + 0.08 * (seller is not None)
            )
            yield Candidate(name, sure, lines[0], lines[0].text)


def _without_sender(lines: list[Spot]) -> list[Spot]:
    """Leave out the small line that gives the sender's address above the receiver's."""
    if len(lines) > 2 and is_address(lines[0].text) and not is_name(lines[0].text):
        return lines[1:]
    return lines
