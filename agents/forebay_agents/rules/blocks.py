"""Read the lines that stand below each other as one block, as in an address."""

from collections.abc import Iterator

from forebay_agents.rules.names import CONTACT, is_address
from forebay_agents.rules.places import Document, Spot

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
        if under is not None:
            lines.append(under)
    return lines


def address_blocks(document: Document) -> Iterator[list[Spot]]:
    """Yield the blocks of the first page that hold an address, each from its first line on."""
    taken: set[int] = set()
    for spot in document.first:
        if id(spot) in taken:
            continue
        lines = block(document, spot)
        taken |= set(map(id, lines))
        if len(lines) >= 2 and any(is_address(line.text) for line in lines[1:]):
            yield lines


def has_contact(lines: list[Spot]) -> bool:
    """Tell whether a block gives a telephone, a website, a tax number or a bank account."""
    return any(CONTACT.search(line.text) for line in lines)


def _follows(upper: Spot, lower: Spot) -> bool:
    """Tell whether a line continues a block: near below, and aligned on either side."""
    gap = lower.box[1] - upper.box[3]
    aligned = (
        abs(upper.box[0] - lower.box[0]) <= 4
        or abs(upper.box[2] - lower.box[2]) <= 4
        or abs(sum(upper.box[::2]) - sum(lower.box[::2])) <= 8
    )
    return aligned and -0.5 * upper.height <= gap <= GAP * max(upper.height, lower.height)
