"""Read the lines that stand below each other as one block, as in an address."""

import re
from collections.abc import Iterator

from forebay_agents.rules.amounts import only_amounts
from forebay_agents.rules.names import CONTACT, GENERAL, companies, is_address
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot
from forebay_agents.rules.text import letters

PERSON = re.compile(
    r"(?:mr|mrs|ms|miss|dr|herrn?|frau|mme|sig|sig\.ra|dhr|mevr)\b\.? ", re.IGNORECASE
)
"""How the name of a person begins who is addressed."""

GAP = 1.3
"""How far apart the lines of a block may be, in heights of a line."""

LONGEST = 9


def block(document: Document, first: Spot) -> list[Spot]:
    """Return the lines of the block that `first` begins."""
    lines = [first]
    for row in document.sheet(first)[first.row + 1 :]:
        last = lines[-1]
        if len(lines) == LONGEST or (row and row[0].box[1] - last.box[3] > 4 * last.height):
            break
        under = next((spot for spot in row if _follows(last, spot)), None)
        if under is not None and (begins_other(under) or _is_apart(lines, under)):
            break
        if under is not None:
            lines.append(under)
    return lines


def _is_apart(lines: list[Spot], lower: Spot) -> bool:
    """Tell whether a wider gap than those in the block parts it from the next line."""
    gap = _gap(lines[-1], lower)
    usual = _gap(lines[-2], lines[-1]) if len(lines) > 1 else gap
    return gap > max(usual, 0.0) + 0.4 * lower.height


def begins_other(spot: Spot) -> bool:
    """Tell whether a line is a title, or gives a date, a sum or a number: that is no address."""
    label = spot.labels[0] if spot.labels and spot.labels[0].start <= 1 else None
    if label is None or not label.leads or next(companies(spot.text), None):
        return False
    rest = spot.text[label.end :].lstrip(" .)")
    is_most = label.end > 0.6 * len(spot.text)
    is_followed = not rest or not rest[0].isalpha()
    is_own = label.means("number") and not label.means("number", "other")
    is_value = is_own or any(label.means(group) for group in ("date", "amount", "kind"))
    return ((is_most or is_followed) and is_value) or (is_most and label.means("word"))


def address_blocks(document: Document) -> Iterator[list[Spot]]:
    """Yield the blocks of the first page that hold an address, each from its first line on.

    So does one of several lines that begins as people are addressed.
    """
    for lines in blocks(document):
        if has_address(lines) or (len(lines) > 2 and PERSON.match(lines[0].text)):
            yield lines


def has_address(lines: list[Spot]) -> bool:
    """Tell whether a street, a town or a country stands below the first line of a block."""
    return any(is_address(line.text) for line in lines[1:])


def blocks(document: Document) -> Iterator[list[Spot]]:
    """Yield the blocks of the first page, leaving out titles and the lines that give a value."""
    taken: set[int] = set()
    for spot in document.first:
        if id(spot) in taken or begins_other(spot) or GENERAL.fullmatch(spot.text):
            continue
        lines = block(document, spot)
        if (
            len(lines) > 2
            and _gap(lines[0], lines[1]) > _gap(lines[1], lines[2]) + 0.4 * spot.height
        ):
            lines = lines[:1]
        taken |= set(map(id, lines))
        yield lines


def has_contact(lines: list[Spot]) -> bool:
    """Tell whether a block gives a telephone, a website, a tax number or a bank account."""
    return any(CONTACT.search(line.text) for line in lines)


def has_value(document: Document, spot: Spot) -> bool:
    """Tell whether a number, a sum or a date stands right of a line, so that it is a label.

    A sum with cents may stand far away, at the other edge of the page.
    """
    right = document.row(spot)[spot.column + 1 : spot.column + 2]
    return any(
        amount.has_decimals() for each in right for amount in only_amounts(each.text)
    ) or any(
        re.search(r"\d", each.text) and letters(each.text) < 4 and each.box[0] - spot.box[2] < 200
        for each in right
    )


def _follows(upper: Spot, lower: Spot) -> bool:
    """Tell whether a line continues a block: near below, and aligned on either side."""
    gap = lower.box[1] - upper.box[3]
    aligned = (
        abs(upper.box[0] - lower.box[0]) <= 4
        or abs(upper.box[2] - lower.box[2]) <= 4
        or abs(sum(upper.box[::2]) - sum(lower.box[::2])) <= 8
    )
    is_alike = max(upper.height, lower.height) <= 1.4 * min(upper.height, lower.height)
    return (
        aligned and is_alike and -0.5 * upper.height <= gap <= GAP * max(upper.height, lower.height)
    )


def _gap(upper: Spot, lower: Spot) -> float:
    return lower.box[1] - upper.box[3]
