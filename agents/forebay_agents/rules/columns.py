"""Find the columns of a table by their heads."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from forebay_agents.pages import Row, Segment
from forebay_agents.rules.heads import (
    CONCEPTS,
    FILLERS,
    HEAD,
    QUALIFIERS,
    THINGS,
    Concept,
    compared,
)

AMOUNTS: frozenset[Concept] = frozenset({"amount", "debit", "credit"})
NUMERIC: frozenset[Concept] = AMOUNTS | {"quantity", "price", "discount", "tax", "balance"}

LONGEST_HEAD = 36
"""Characters of a head that is not known; longer texts are no heads."""

CLOSE = 0.6
"""Rows of one head are not further from each other than this, in heights of the text."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its head: what stands in it, and from where to where the head reaches."""

    concept: Concept
    left: float
    right: float
    head: str = ""


def head_at(rows: Sequence[Row], index: int) -> tuple[list[Column], int]:
    """Return the columns of the table whose head is in `rows[index]`, and the row after the head.

    A head may take several rows, of which this one names the most. There are no columns when the
    row is no head of a table of line items or of bookings. Exactly one column is the description.
    """
    found = _columns(rows[index])
    if not _is_head(found):
        return [], index
    after = index + 1
    for step, end in ((-1, -1), (1, len(rows))):
        last = rows[index]
        for other in range(index + step, end, step):
            row = _beside(rows[other], found)
            if row and not (_are_close(last, row) and _is_like_head(row)):
                break
            if row:
                found, last = _extended(found, row), row
                after = max(after, other + 1)
            elif not _are_close(last, rows[other]):
                break
    return _settled(found), after


def names_columns(row: Row) -> bool:
    """Tell whether a row alone names the columns of a table of line items or of bookings."""
    return _is_head(_columns(row))


def columns_of(cells: Sequence[str]) -> list[Column]:
    """Return the columns that the first row of a ruled table names, one for each of its cells."""
    row = [Segment(cell, (place, 0.0, place + 1.0, 1.0)) for place, cell in enumerate(cells)]
    found = [_named(segment) for segment in row]
    chosen = _description(found)
    return [_as(column, chosen) for column in found] if chosen and _is_head(found) else []


def _columns(row: Row) -> list[Column]:
    """Return the columns that the heads in `row` name; none when some of it can be no head."""
    found: list[Column] = []
    for segment in row:
        named = list(_heads(segment))
        if not named and not _may_be_head(segment):
            return []
        found += named or [Column("other", segment.box[0], segment.box[2])]
    unknown = sum(column.concept == "other" for column in found)
    return found if 2 * unknown <= len(found) else []


def _is_head(columns: Sequence[Column]) -> bool:
    """Tell whether the columns can be a table of line items or of bookings."""
    concepts = {column.concept for column in columns} - {"other"}
    is_of_things = bool(concepts & {"description", "quantity"})
    return is_of_things and len(concepts) > 1 and bool(concepts & (AMOUNTS | {"price", "quantity"}))


def _may_be_head(segment: Segment) -> bool:
    return len(segment.text) <= LONGEST_HEAD and not re.search(r"\d", segment.text)


def _is_like_head(row: Row) -> bool:
    return all(_may_be_head(segment) or list(_heads(segment)) for segment in row)


def _beside(row: Row, columns: Sequence[Column]) -> Row:
    """Return what of a row stands above or beside the columns, not before the first of them."""
    left = min(column.left for column in columns)
    return [each for each in row if each.box[2] > left]


def _are_close(one: Row, other: Row) -> bool:
    upper, lower = sorted((one[0].box, other[0].box), key=lambda box: box[1])
    return lower[1] - upper[3] <= CLOSE * (upper[3] - upper[1])


def _extended(columns: Sequence[Column], row: Row) -> list[Column]:
    """Return the columns with those of another row of the same head; both may be one head."""
    found = list(columns)
    for segment in row:
        for new in list(_heads(segment)) or [Column("other", segment.box[0], segment.box[2])]:
            same = next((old for old in found if _overlap(old, new)), None)
            if same is not None:
                concept = new.concept if same.concept == "other" else same.concept
                left, right = min(same.left, new.left), max(same.right, new.right)
                found[found.index(same)] = replace(same, concept=concept, left=left, right=right)
            elif new.concept != "other":
                found.append(new)
    return found


def _overlap(one: Column, other: Column) -> bool:
    return one.left < other.right and other.left < one.right


def _settled(columns: Sequence[Column]) -> list[Column]:
    """Return the columns from left to right, exactly one of which is the description.

    Of two the one with a general head ("Item") holds codes, else the first is taken. Where no head
    names it, it is the first column of other things, or begins at the left of all.
    """
    ordered = sorted(columns, key=lambda column: column.left)
    chosen = _description(ordered)
    if chosen is None:
        left = ordered[0].left
        return [Column("description", left, left), *ordered]
    return list(_with_unit([_as(column, chosen) for column in ordered]))


def _description(columns: Sequence[Column]) -> Column | None:
    """Return the column that holds the descriptions; None when no head can be its."""
    names = [column for column in columns if column.concept == "description"]
    special = [column for column in names if column.head not in THINGS]
    others = [column for column in columns if column.concept == "other"]
    return next(iter(special or names or others), None)


def _with_unit(columns: Sequence[Column]) -> Iterator[Column]:
    """Yield the columns with room for a unit between a quantity and the description behind it."""
    for column, after in zip(columns, [*columns[1:], None], strict=True):
        yield column
        if column.concept == "quantity" and after and after.concept == "description":
            yield Column("unit", column.right, after.left)


def _as(column: Column, chosen: Column) -> Column:
    if column is chosen:
        return replace(column, concept="description")
    return replace(column, concept="code") if column.concept == "description" else column


def _named(segment: Segment) -> Column:
    """Return the one column of a ruled cell, by the longest head in it."""
    found = HEAD.findall(_without_remarks(segment.text))
    head = max(found, key=len, default="")
    return Column(CONCEPTS.get(head, "other"), segment.box[0], segment.box[2], head)


def _heads(segment: Segment) -> Iterator[Column]:
    """Yield the columns that a segment names; heads that stand close together share one."""
    text = _without_remarks(segment.text)
    found = list(HEAD.finditer(text))
    if len(found) > 1:
        found = [match for match in found if match[0] not in QUALIFIERS] or found[:1]
        found = [match for match in found if not _repeats(text[: match.start()])] or found[:1]
    unknown = [
        word for word in re.findall(r"[^\W\d_]+", HEAD.sub(" ", text)) if word not in FILLERS
    ]
    known, rest = sum(len(match[0]) for match in found), sum(map(len, unknown))
    if rest > known or (rest and len(text) > LONGEST_HEAD) or not found:
        return
    starts = [0, *(match.start() for match in found[1:])]
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    for match, start, end in zip(found, starts, ends, strict=True):
        left, right = (place(segment, text, index) for index in (start, end))
        yield Column(CONCEPTS[match[0]], left, right, match[0])


def _repeats(before: str) -> bool:
    """Tell whether a head says another one again, in a second language: "Menge / Quantity"."""
    return re.search(r"\w\s*/\s*$", before) is not None


def _without_remarks(text: str) -> str:
    """Return `text` as heads are compared, with blanks for what is in brackets."""
    return _REMARK.sub(lambda match: " " * len(match[0]), compared(text))


def place(segment: Segment, text: str, index: int) -> float:
    """Return where the character at `index` of the segment's `text` stands, from left, in points.

    Characters count as equally wide.
    """
    left, _, right, _ = segment.box
    return left + (right - left) * index / max(len(text), 1)


_REMARK = re.compile(r"\([^)]*\)?|^[^()]*\)")
