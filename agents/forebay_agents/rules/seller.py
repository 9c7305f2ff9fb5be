"""Find who issues a document: by a label, or by the name that letterhead and small print share."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forebay_agents.findings import Found
from forebay_agents.rules import words
from forebay_agents.rules.blocks import begins_other, blocks, has_contact, has_value
from forebay_agents.rules.candidates import Candidate, choose, found
from forebay_agents.rules.names import (
    CONTACT,
    FORMS,
    POSTAL,
    clean_name,
    companies,
    core,
    is_address,
    is_name,
    is_street_name,
)
from forebay_agents.rules.parties import CLEAR, FROM, labelled
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot
from forebay_agents.rules.text import JAPANESE

ENOUGH, ENOUGH_BESIDE_BUYER, ENOUGH_BESIDE_VENDOR = 0.5, 0.38, 0.3
"""From which score on a name counts as the issuer's, and when it is known who is not."""

MAILERS = frozenset(words.of_names("line", "mail"))
DOMAIN = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([\w.-]+)\.[a-z]{2,}", re.IGNORECASE)
SENDER = re.compile(r"^(?P<name>[^·•|,;–—]{3,60}?)\s*(?:[·•|,;–—*]|\s-\s)\s*.*\d")
STREET = re.compile(rf"\w+ (?:{'|'.join(words.of_names('line', 'streets'))})", re.IGNORECASE)
"""A street without its number, as those of villages are: 'Church Lane'."""

ONLY_FORM = re.compile(rf"(?:{FORMS})\.?")
TOP, LOW = 0.25, 0.85
"""Parts of the page's height: above the one are letterheads, below the other is small print."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name, the spot that it stands in, and how much that speaks for the issuer."""

    name: str
    spot: Spot
    score: float
    has_form: bool
    is_alone: bool = True


def find_labelled_seller(document: Document) -> Found | None:
    """Return the name that a label says is the issuer's, if that is clear."""
    offered = [each for each in labelled(document, "seller", 0.86) if each.confidence > CLEAR]
    return found(document, max(offered, key=lambda each: each.confidence)) if offered else None


def find_orderer(document: Document, vendor: Found) -> Found | None:
    """Return the name in the letterhead of an order that another company is to fill."""
    mentions = [each for each in _mentions(document) if not is_same(each.name, vendor.value)]
    scored = _scored(document, mentions)
    return choose(document, [each for each in scored if each.confidence >= ENOUGH_BESIDE_VENDOR])


def is_company(party: Found) -> bool:
    """Tell whether a party's name has a legal form."""
    return next(companies(party.value), None) is not None


def find_seller(document: Document, buyer: str | None = None) -> Found | None:
    """Return the name of the issuer; the buyer, where a label names one, is never it."""
    known = core(buyer) if buyer else None
    said = [each for each in labelled(document, "seller", 0.86) if core(each.value) != known]
    clear = [each for each in said if each.confidence > CLEAR]
    if clear:
        return found(document, max(clear, key=lambda each: each.confidence))
    mentions = [
        each for each in _mentions(document) if core(each.name) and not is_same(each.name, buyer)
    ]
    payees = [each for each in labelled(document, "payee", 0.62) if core(each.value) != known]
    scored = [*said, *payees, *_scored(document, mentions)]
    enough = ENOUGH_BESIDE_BUYER if buyer else ENOUGH
    return choose(document, [each for each in scored if each.confidence >= enough])


def is_same(name: str, other: str | None) -> bool:
    """Tell whether two names are the same apart from their legal forms."""
    return other is not None and core(name) == core(other)


def _mentions(document: Document) -> Iterator[Mention]:
    """Yield names with a legal form anywhere, and the first lines of blocks and senders on top."""
    starts = {id(lines[0]): lines for lines in blocks(document)}
    for spot in document.spots:
        lines = starts.get(id(spot), [])
        wrapped = _wrapped(lines)
        named = [wrapped] if wrapped else list(companies(spot.text))
        for index, name in enumerate(named):
            score = (
                0.32 - 0.2 * (index > 0) + _place(document, spot, lines, len(name) / len(spot.text))
            )
            yield Mention(name, spot, score, True, len(name) > 0.8 * len(spot.text))
        if named or spot.page != document.first[0].page or _says_else(spot):
            continue
        sender = SENDER.match(spot.text) if lines and POSTAL.search(spot.text) else None
        if sender is None and (is_address(spot.text) or has_value(document, spot)):
            continue
        if document.is_head(document.row(spot)):
            continue
        plain = clean_name(sender["name"] if sender else spot.text)
        if plain is None or (sender and (_is_street(plain) or plain[0].isdigit())):
            continue
        if (sender and ":" not in sender["name"]) or (lines and _is_on_top(document, spot)):
            yield Mention(plain, spot, 0.16 + _place(document, spot, lines, 1.0), False)


def _is_street(name: str) -> bool:
    return is_street_name(name) or STREET.fullmatch(name) is not None


def _says_else(spot: Spot) -> bool:
    """Tell whether a line is a title, or begins with a label."""
    is_title = any(
        label.means("kind") and (label.end - label.start >= 6 or JAPANESE.search(spot.text))
        for label in spot.labels
    )
    is_party = any(
        label.means("party")
        and label.leads
        and (
            FROM.search(spot.text[label.start : label.end])
            or not re.match(r"\s[^\W\d]", spot.text[label.end :])
        )
        for label in spot.labels[:1]
    )
    return is_title or is_party or begins_other(spot)


def _place(document: Document, spot: Spot, lines: list[Spot], share: float) -> float:
    """Return how much a name's place speaks for the issuer; `share` is its part of the line."""
    score = 0.0
    has_address = any(is_address(line.text) for line in lines[1:])
    speaks = CONTACT.search(spot.text) is not None or has_contact(lines)
    if _is_on_top(document, spot):
        score += 0.08 + 0.1 * (share > 0.8) + 0.14 * (spot.height > 1.2 * document.size)
        score += 0.16 * (spot.row == 0) + 0.06 * (0 < spot.row <= 2)
    if has_address and not speaks and spot.row > 1:
        score -= 0.15
    if spot.page == document.first[0].page and is_address(spot.text) and SENDER.match(spot.text):
        score += 0.3
    return score + 0.15 * _is_low(document, spot) + 0.22 * speaks


def _scored(document: Document, mentions: list[Mention]) -> Iterator[Candidate]:
    """Yield each name once, the legal one, with all that speaks for it and its short forms."""
    domains = _domains(document)
    families = _families(mentions)
    for family in families:
        cores = {core(each.name) for each in family}
        best = max(family, key=lambda each: (each.has_form, each.is_alone, each.score))
        score = max(each.score for each in family)
        score += 0.12 * (len(family) > 1) + 0.3 * any(_owns(key, domains) for key in cores)
        score += 0.12 * (len(families) == 1)
        yield Candidate(best.name, min(score, 0.97), best.spot, best.spot.text)


def _families(mentions: list[Mention]) -> list[list[Mention]]:
    """Gather the mentions of one name, also where it is shortened to its first words."""
    families: list[list[Mention]] = []
    for mention in sorted(mentions, key=lambda each: -len(core(each.name))):
        key = core(mention.name)
        for family in families:
            longest = core(family[0].name)
            if key == longest or _is_short_form(key, longest):
                family.append(mention)
                break
        else:
            families.append([mention])
    return families


def _is_short_form(name: str, longer: str) -> bool:
    """Tell whether a name is the beginning of a longer one, or a large part of it."""
    return (len(name) >= 4 and longer.startswith(name)) or (len(name) >= 10 and name in longer)


def _wrapped(lines: list[Spot]) -> str | None:
    """Return the name whose legal form alone stands in the next line."""
    if len(lines) > 1 and ONLY_FORM.fullmatch(lines[1].text) and is_name(lines[0].text):
        return f"{lines[0].text} {lines[1].text}"
    return None


def _domains(document: Document) -> set[str]:
    """Return the names in the addresses of websites and mail that the document gives."""
    parts = {
        part for match in DOMAIN.finditer(document.text) for part in match[1].lower().split(".")
    }
    return {part.replace("-", "") for part in parts if len(part) > 2} - MAILERS


def _owns(name: str, domains: set[str]) -> bool:
    """Tell whether a domain is called as the name is, or as its beginning."""
    return any(
        name.startswith(domain) or (len(name) >= 4 and domain.startswith(name))
        for domain in domains
    )


def _is_on_top(document: Document, spot: Spot) -> bool:
    height = document.page(spot).height or 842.0
    return spot.page == document.first[0].page and spot.box[1] < TOP * height


def _is_low(document: Document, spot: Spot) -> bool:
    height = document.page(spot).height or 842.0
    return spot.box[1] > LOW * height
