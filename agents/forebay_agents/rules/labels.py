"""Find the labels in a text: the words by which documents name their fields.

The words are in `words/*.toml`, a file for each language. A label is read as long as it can be, so
that a "due date" does not answer for a "date", nor a "customer number" for a "number": the words
for what is no field of ours are there for that reason alone.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from forebay_agents.findings import Name
from forebay_agents.rules import words
from forebay_agents.rules.text import IGNORED, JAPANESE, fold, squash

RATE = re.compile(r"\(?@?\s?\d{1,2}(?:[.,]\d{1,3})?\s?%\)?")
MONEY = re.compile(r"(?<![A-Za-z])(?:EUR|USD|GBP|CHF|CAD|AUD|NZD|JPY)(?![A-Za-z])|[€$£¥]")
"""A tax rate or a currency may stand anywhere in a label: 'incl. 19 % VAT', 'Total EUR net'."""

SHORT = 4
"""Labels of fewer letters are common words too, and count only at the start or before a colon."""

NEUTRAL = frozenset("ごお御貴今回当月分の ")
"""What may stand before a Japanese label: it is polite, or says that this time is meant."""

Meaning = tuple[str, str]
"""Group and name, as in the word files: ("amount", "total"), ("number", "invoice")."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a phrase means, and the languages that say it so."""

    meanings: frozenset[Meaning]
    languages: frozenset[str]


@dataclass(frozen=True, slots=True)
class Label:
    """A label in a text, from `start` to `end`.

    It leads when no other words stand before it: "Delivery schedule date" is no label "date".
    """

    start: int
    end: int
    leads: bool
    meanings: frozenset[Meaning]
    languages: frozenset[str]

    def means(self, group: str, *names: str) -> bool:
        """Tell whether it names one of these, or anything of the group if none is given."""
        return any(each == group and (not names or name in names) for each, name in self.meanings)


def find_labels(text: str) -> list[Label]:
    """Return the labels in `text` (in normal form), from left to right, none inside another."""
    found: list[Label] = []
    places, squashed = _without_ignored(text)
    position, is_lead = 0, True
    while position < len(places):
        start = places[position]
        match = None
        if _may_begin(text, start):
            match = _longest(squashed, position, text, places) or _compound(
                squashed, position, text, places
            )
        if match is None:
            is_lead = _leads_after(text, start, is_lead)
            position += 1
            continue
        length, meant = match
        end = places[position + length - 1] + 1
        leads = is_lead and (position == 0 or not _is_short(text, start, end))
        found.append(Label(start, end, leads, meant.meanings, meant.languages))
        position += length
    return found


def named(text: str) -> set[Name]:
    """Return the fields that a label in `text` names, whatever the kind of document."""
    return {
        field
        for label in find_labels(text)
        if label.leads
        for group, name in label.meanings
        if (field := _field(group, name))
    }


def _field(group: str, name: str) -> Name | None:
    match group, name:
        case "amount", "net":
            return "total_net"
        case "amount", "tax" | "included":
            return "tax"
        case "amount", "total" | "payable" | "sum" | "closing":
            return "total"
        case "date", "due":
            return "due_date"
        case (("date" | "number"), name) if name != "other":
            return "date" if group == "date" else "number"
        case "party", "seller" | "buyer":
            return "seller" if name == "seller" else "buyer"
        case "word", "currency":
            return "currency"
        case "kind", _:
            return "kind"
    return None


def _without_ignored(text: str) -> tuple[list[int], str]:
    """Return the characters that count, folded, and the place of each in `text`."""
    between = [*RATE.finditer(text), *MONEY.finditer(text)]
    skipped = {place for match in between for place in range(*match.span())}
    plain = fold(text)
    places = [
        place
        for place, character in enumerate(plain)
        if character not in IGNORED and place not in skipped
    ]
    return places, "".join(plain[place] for place in places)


def _may_begin(text: str, start: int) -> bool:
    """Tell whether a word begins here, not within a number; in Japanese one may anywhere."""
    if JAPANESE.match(text[start]):
        return True
    if start > 1 and text[start - 1] in "-/._" and text[start - 2].isdigit():
        return False
    return (
        start == 0 or not text[start - 1].isalpha() or JAPANESE.match(text[start - 1]) is not None
    )


def _longest(
    squashed: str, position: int, text: str, places: list[int]
) -> tuple[int, Meant] | None:
    """Return length and meaning of the longest phrase from `position` that ends with a word."""
    node: dict[str, Any] = _trie()
    best = None
    for offset in range(position, len(squashed)):
        if squashed[offset] not in node:
            break
        node = node[squashed[offset]]
        is_end = "" in node and _may_end(text, places[offset])
        if is_end and not _is_glued(text, places[position], places[offset]):
            best = offset - position + 1, node[""]
    return best


def _compound(
    squashed: str, position: int, text: str, places: list[int]
) -> tuple[int, Meant] | None:
    """Return a phrase that a long word ends with the beginning of: 'Gebührenrechnung Nr.'."""
    end = position
    while (
        end < len(places)
        and text[places[end]].isalpha()
        and places[end] - places[position] == end - position
    ):
        end += 1
    word = squashed[position:end]
    if not word.endswith(_endings()):
        return None
    ending = next(ending for ending in _endings() if word.endswith(ending))
    if len(word) < len(ending) + 2:
        return None
    offset = len(word) - len(ending)
    match = _longest(squashed, position + offset, text, places)
    return (match[0] + offset, match[1]) if match and match[0] >= len(ending) else None


def _may_end(text: str, last: int) -> bool:
    following = text[last + 1 : last + 2]
    if not text[last].isalpha() or JAPANESE.match(text[last]):
        return True
    return not following.isalpha() or JAPANESE.match(following) is not None


def _is_glued(text: str, first: int, last: int) -> bool:
    """Tell whether a short word is the beginning of a number: 'INV2026'."""
    return (
        last - first < SHORT - 1
        and text[first:last].isascii()
        and text[last + 1 : last + 2].isdigit()
    )


def _is_short(text: str, start: int, end: int) -> bool:
    """Tell whether a label is short, and no colon makes it clear that it is one."""
    if end - start >= SHORT or JAPANESE.match(text[start]):
        return False
    return not text[end:].lstrip(" .°").startswith(":")


def _leads_after(text: str, place: int, is_lead: bool) -> bool:
    """Tell whether a label right after the character at `place` would lead."""
    character = text[place]
    if character in ";|•·/&,:#+" or character.isdigit():
        return True
    if character == "日" and text[place - 1 : place].isdigit():
        return True
    if all(each in NEUTRAL for each in text[: place + 1]):
        return is_lead
    return is_lead and not character.isalpha()


@cache
def _trie() -> dict[str, Any]:
    """Return all phrases, squashed, letter by letter; the key "" holds what ends there."""
    collected: dict[str, dict[Meaning, set[str]]] = {}
    for language, meaning, phrase in words.labels():
        collected.setdefault(squash(phrase), {}).setdefault(meaning, set()).add(language)
    root: dict[str, Any] = {}
    for key, meanings in collected.items():
        node = root
        for character in key:
            node = node.setdefault(character, {})
        languages = frozenset(language for spoken in meanings.values() for language in spoken)
        node[""] = Meant(frozenset(meanings), languages)
    return root


@cache
def _endings() -> tuple[str, ...]:
    """Return the words for kinds that German and Dutch words may end with, the longest first."""
    found = {
        squash(phrase)
        for language, (group, _), phrase in words.labels()
        if language in ("de", "nl") and group == "kind" and len(phrase) >= 7 and " " not in phrase
    }
    return tuple(sorted(found, key=len, reverse=True))
