"""Find the names that labels give to the parties of a document."""

import re
from collections.abc import Iterator

from forebay_agents.rules.blocks import block
from forebay_agents.rules.candidates import Candidate
from forebay_agents.rules.labels import Label
from forebay_agents.rules.names import HONORIFIC, POSTAL, clean_name, companies
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot
from forebay_agents.rules.text import JAPANESE

FROM = re.compile(r"\s(?:from|von|de|da|di|van)$", re.IGNORECASE)
"""How labels end that a name follows in a sentence: 'Received from', 'Reçu de'."""

CLEAR = 0.75
"""Labels from which confidence on need no other sign."""


def labelled(document: Document, name: str, confidence: float) -> Iterator[Candidate]:
    """Yield the names that stand after or below labels for a party, or in their section."""
    for spot, label in document.questions("party", name):
        if document.is_below_items(spot) and ":" not in spot.text[label.end : label.end + 3]:
            continue
        for lines in _lines(document, spot, label):
            value, line = next(
                ((value, line) for text, line in lines[:2] if (value := clean_name(text))),
                ("", spot),
            )
            if value:
                said = line.text if line is spot else f"{spot.text} {line.text}"
                sure = confidence - _doubt(spot, label) - 0.02 * (line.column > spot.column)
                yield Candidate(value, sure, line, said)
                break
        else:
            yield from _in_section(document, spot, confidence - 0.05)


def _doubt(spot: Spot, label: Label) -> float:
    """Return what to take off for a label that is a common word, or may mean something else."""
    is_short = len(spot.text[label.start : label.end]) < 4
    others = {group for group, _ in label.meanings} - {"kind", "party"}
    return 0.12 * is_short + 0.1 * bool(others)


def _lines(document: Document, spot: Spot, label: Label) -> Iterator[list[tuple[str, Spot]]]:
    """Yield the lines that may follow a label: after it, below it, and to its right."""
    after = document.after(spot, label)
    is_polite = HONORIFIC.match(spot.text[label.start :]) is not None
    row = document.row(spot)
    is_value = spot.column > 0 and bool(row[spot.column - 1].labels)
    is_own = label.start <= 1 and not POSTAL.search(spot.text) and not is_value
    if is_polite and (not is_own or _is_below(document, spot)):
        return
    if after and after[0][1] is spot:
        rest, gap = spot.text[label.end :], spot.text[label.end : label.end + 3]
        is_spoken = FROM.search(spot.text[label.start : label.end]) is not None and _ends(rest)
        if ":" in gap or is_polite or is_spoken or JAPANESE.search(rest):
            yield [after[0]]
        return
    if label.start > 1:
        return
    right = [(text, each) for text, each in after if each.box[0] - spot.box[2] < 200]
    is_head = document.is_head(document.row(spot))
    under = [] if is_head else [each for each in document.below(spot) if _is_aligned(spot, each)]
    below = [(each.text, each) for each in block(document, under[0])] if under else []
    is_close = bool(under) and under[0].box[1] - spot.box[3] < 1.2 * spot.height
    is_exact = bool(under) and abs(under[0].box[0] - spot.box[0]) < 3
    is_next = bool(right) and right[0][1].box[0] - spot.box[2] < 3 * spot.height
    options = [below, right[:1]]
    is_firm = bool(below) and next(companies(below[0][0]), None) is not None
    is_grid = bool(JAPANESE.search(spot.text)) and is_exact
    if (
        right
        and not is_grid
        and (is_next or not (is_close and is_exact and (len(below) > 1 or is_firm)))
    ):
        options.reverse()
    yield from (option for option in options if option)


def _ends(text: str) -> bool:
    """Tell whether the name that a text begins with ends there, or before a comma."""
    name = clean_name(text)
    return name is not None and not re.match(r"\s+\w", text.strip()[len(name) :])


def _in_section(document: Document, head: Spot, confidence: float) -> Iterator[Candidate]:
    """Yield the name after the label 'Name' in the rows below the head of a party's section."""
    for row in document.sheet(head)[head.row + 1 : head.row + 6]:
        for spot in row:
            for label in spot.labels[:1]:
                if label.means("party", "seller", "buyer", "receiver"):
                    return
                if label.means("party", "name") and label.start <= 1:
                    text, place = next(iter(document.after(spot, label)), ("", spot))
                    if name := clean_name(text):
                        yield Candidate(name, confidence, place, f"{head.text} {spot.text} {text}")
                        return


def _is_below(document: Document, spot: Spot) -> bool:
    """Tell whether a line continues a block, so that it is not who is addressed first."""
    above = document.sheet(spot)[spot.row - 1] if spot.row else []
    return any(spot in block(document, each)[1:2] and clean_name(each.text) for each in above)


def _is_aligned(upper: Spot, lower: Spot) -> bool:
    is_left = abs(lower.box[0] - upper.box[0]) < 30
    return is_left or abs(lower.box[2] - upper.box[2]) < 6
