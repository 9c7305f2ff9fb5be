"""Find who issues a document: by a label, or by the name that letterhead and small print share."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from forebay_agents.findings import Found
from forebay_agents.rules.blocks import block, has_contact
from forebay_agents.rules.buyer import labelled
from forebay_agents.rules.candidates import Candidate, choose
from forebay_agents.rules.names import CONTACT, clean_name, companies, core, is_address, is_name
from forebay_agents.rules.places import Document, Spot

ENOUGH = 0.5
"""From which score on a name counts as the issuer's."""

MAILERS = frozenset(
    "gmail outlook hotmail yahoo icloud gmx web tonline freenet live orange free wanadoo laposte sfr libero"
    " tiscali alice telefonica sapo ziggo kpnmail xs4all btinternet aol protonmail posteo mail".split()
)
DOMAIN = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([\w.-]+)\.[a-z]{2,}", re.IGNORECASE)
SENDER = re.compile(r"^(?P<name>[^·•|,;–—]{3,60}?)\s*(?:[·•|,;–—*]|\s-\s)\s*.*\d")
PAYEES = ("payee",)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the document, where it stands, and whether the line holds nothing else."""

    name: str
    spot: Spot
    is_alone: bool
    has_form: bool


def find_seller(document: Document, buyer: str | None = None) -> Found | None:
    """Return the name of the issuer; the buyer, where a label names one, is never it."""
    known = core(buyer) if buyer else None
    said = [each for each in labelled(document, "seller", 0.86) if core(each.value) != known]
    mentions = [
        each for each in _mentions(document) if core(each.name) != known and core(each.name)
    ]
    scored = [*said, *_scored(document, mentions)]
    enough = [each for each in scored if each.confidence >= ENOUGH]
    best: dict[str, Candidate] = {}
    for each in sorted(enough, key=lambda each: -each.confidence):
        best.setdefault(core(each.value), each)
    return choose(document, best.values())


def _mentions(document: Document) -> Iterator[Mention]:
    """Yield names with a legal form anywhere, and other names that stand where letterheads do."""
    for spot in document.spots:
        named = list(companies(spot.text))
        for name in named:
            yield Mention(name, spot, len(name) >= 0.8 * len(spot.text), True)
        if named or spot.page != document.first[0].page:
            continue
        sender = SENDER.match(spot.text) if is_address(spot.text) else None
        name = clean_name(sender["name"]) if sender else clean_name(spot.text)
        if name and (sender or _is_on_top(document, spot)) and not _is_title(spot):
            yield Mention(name, spot, not sender, False)


def _scored(document: Document, mentions: list[Mention]) -> Iterator[Candidate]:
    """Yield each name once with the sum of what speaks for it."""
    counts = Counter(core(each.name) for each in mentions)
    domains = _domains(document)
    for key in counts:
        same = [each for each in mentions if core(each.name) == key]
        best = max(same, key=lambda each: (each.has_form, _score(document, each)))
        score = max(_score(document, each) for each in same)
        score += 0.1 * (counts[key] > 1) + 0.3 * _owns(key, domains)
        score += 0.1 * (_is_low(document, same[-1].spot) and not _is_low(document, same[0].spot))
        first = next((each for each in same if each.name == best.name), best)
        yield Candidate(best.name, min(score, 0.93), first.spot, first.spot.text)


def _score(document: Document, mention: Mention) -> float:
    """Return how much one mention speaks for a name."""
    spot = mention.spot
    score = 0.3 if mention.has_form else 0.12
    if _is_on_top(document, spot):
        score += 0.15 * mention.is_alone + 0.12 * (spot.height > 1.2 * document.size) + 0.05
        score += 0.12 * (spot.row <= 2)
    if spot.page == document.first[0].page and is_address(spot.text) and SENDER.match(spot.text):
        score += 0.3
    if _is_low(document, spot):
        score += 0.15
    if CONTACT.search(spot.text) or has_contact(block(document, spot)):
        score += 0.2
    return score


def _domains(document: Document) -> set[str]:
    """Return the names in the addresses of websites and mail that the document gives."""
    parts = {
        part for match in DOMAIN.finditer(document.text) for part in match[1].lower().split(".")
    }
    return {part.replace("-", "") for part in parts if len(part) > 2} - MAILERS


def _owns(name: str, domains: set[str]) -> bool:
    """Tell whether a domain is called as the name is, or as its beginning."""
    return any(
        domain in name or (len(name) >= 4 and name in domain)
        for domain in domains
        if len(domain) >= 4 or domain == name[: len(domain)]
    )


def _is_on_top(document: Document, spot: Spot) -> bool:
    height = document.page(spot).height or 842.0
    return spot.page == document.first[0].page and spot.box[1] < 0.25 * height


def _is_low(document: Document, spot: Spot) -> bool:
    height = document.page(spot).height or 842.0
    return spot.box[1] > 0.85 * height


def _is_title(spot: Spot) -> bool:
    """Tell whether a line names a kind of document or begins with another label."""
    return any(label.leads and (label.means("kind") or label.start == 0) for label in spot.labels)


__all__ = ["find_seller", "is_name"]
