"""Find the fields of a document by their labels: what the page does not say stays absent."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from forebay_agents.reading.layout import Row, Segment
from forebay_agents.rules import labels
from forebay_agents.rules.amounts import CODE, CODES, Amount, amounts, currency, one_amount
from forebay_agents.rules.dates import day_first, find_dates

TITLE_ROWS = 25
"""In how many rows of the first page the title is looked for."""

START = r"(?:^|(?<=\d)\s+|[;|•·]\s*)"
"""Where a label may begin: 'Due date' must not answer for 'Date', nor 'Subtotal' for 'Total'."""

DOCUMENT_NUMBER = re.compile(r"(?=[^\s,;]*\d)[A-Za-z0-9][\w./#-]*\w")


@dataclass(frozen=True, slots=True)
class Found:
    """Hold a field's value and how good its evidence is, from 0 to 1."""

    value: str
    strength: float


def find_fields(pages: Sequence[Sequence[Row]]) -> dict[str, Found]:
    """Return the fields that `pages` state, each page given as its rows.

    Names are kind, number, date (ISO 8601), currency (ISO 4217) and total (a decimal string). A
    field that is missing, ambiguous or said in two ways is left out.
    """
    sheets = [[_normal_row(row) for row in page] for page in pages]
    rows = [row for sheet in sheets for row in sheet]
    kind = _kind(sheets[0]) if sheets else None
    name = kind.value if kind else ""
    total, sign = _total(rows) if "total" in labels.EXPECTED.get(name, ()) else (None, None)
    found = {
        "kind": kind,
        "number": _number(rows, name),
        "date": _date(rows, name),
        "currency": _currency(rows, sign) if total else None,
        "total": total,
    }
    return {field: value for field, value in found.items() if value is not None}


def _normal_row(row: Row) -> Row:
    return [Segment(_normal(segment.text), segment.left, segment.right) for segment in row]


def _normal(text: str) -> str:
    """Return `text` with full-width forms narrowed and spaced-out words (I N V O I C E) closed."""
    plain = unicodedata.normalize("NFKC", text).strip()
    return plain.replace(" ", "") if re.fullmatch(r"(?:[^\W\d] ){2,}[^\W\d]", plain) else plain


def _kind(rows: Sequence[Row]) -> Found | None:
    """Take the first title: a kind's name that ends a short heading, else one before a number."""
    titles = [segment.text for row in rows[:TITLE_ROWS] for segment in row]
    before = r"(?:(?:[A-ZÄÖÜÉ][\w&'.-]*|of|de|für|&)\s+){0,4}"
    alone = before + r"(?P<kind>(?i:%s))(?:\s+\d{4})?"
    numbered = rf"(?P<kind>(?i:%s))\s*(?:(?i:{labels.NO})|[:#]|(?:of|for|de|über|vom)\b|\S*\d).*"
    for pattern, strength in ((alone, 1.0), (numbered, 0.8)):
        for title in titles:
            for kind, names in labels.KINDS.items():
                match = re.fullmatch(pattern % names, title)
                if match and not match["kind"][0].islower():
                    return Found(kind, strength)
    return None


def _number(rows: Sequence[Row], kind: str) -> Found | None:
    if not kind:
        return None
    tiers = [(rf"{START}(?:{labels.ANY_NUMBER})", 0.7)]
    if kind in labels.NUMBERS:
        tiers.insert(0, (rf"{START}(?:{labels.NUMBERS[kind]})", 1.0))
        tiers.append((rf"^(?:{labels.KINDS[kind]})", 0.6))
    return _first_answer(rows, tiers, _document_number)


def _document_number(text: str) -> str | None:
    """Return the token with a digit that `text` starts with, unless it is a date."""
    match = DOCUMENT_NUMBER.match(text)
    if match is None or next(find_dates(match[0], None), None):
        return None
    return match[0]


def _date(rows: Sequence[Row], kind: str) -> Found | None:
    order = day_first(_text(rows))
    tiers = [(rf"{START}(?:{labels.ANY_DATE})", 0.9)]
    if kind in labels.DATES:
        tiers.insert(0, (rf"{START}(?:{labels.DATES[kind]})", 1.0))
    if kind == "contract":
        tiers.insert(1, (rf"\b(?:{labels.CONTRACT_DATE})", 0.9))

    def read(text: str) -> str | None:
        place, day = next(find_dates(text, order), (0, None))
        clear = re.fullmatch(r"\W*(?:the|on|den|le)?\W*", text[:place], re.IGNORECASE)
        return day.isoformat() if day and clear else None

    return _first_answer(rows, tiers, read) or _lone_date(rows, order)


def _lone_date(rows: Sequence[Row], order: bool | None) -> Found | None:
    """Take the only date that stands by itself near the top, as a letter's does."""
    days = {
        day
        for row in rows[:TITLE_ROWS]
        for segment in row
        for place, day in find_dates(segment.text, order)
        if place == 0 and len(segment.text) <= 20
    }
    return Found(days.pop().isoformat(), 0.6) if len(days) == 1 else None


def _total(rows: Sequence[Row]) -> tuple[Found | None, str | None]:
    """Return the total and the currency sign beside it; both None when totals differ."""
    for tier, strength in zip(labels.TOTALS, (0.8, 0.8, 0.6), strict=True):
        found = list(_sums(rows, tier))
        totals = {amount.value for amount in found}
        if len(totals) == 1:
            total = totals.pop()
            sign = next((amount.sign for amount in found if amount.sign), None)
            return Found(str(total), _checked(rows, total, strength)), sign
        if totals:
            return None, None
    return None, None


def _checked(rows: Sequence[Row], total: Decimal, strength: float) -> float:
    """Raise the strength when a stated net and the taxes make the total; halve it when not."""
    nets = {amount.value for amount in _sums(rows, labels.NET)}
    taxes = {amount.value for amount in _sums(rows, labels.TAX)}
    if len(nets) != 1 or not taxes:
        return strength
    (net,) = nets
    sums = {net + tax for tax in taxes} | {net + sum(taxes)}
    return 1.0 if total in sums else strength / 2


def _sums(rows: Sequence[Row], label: str) -> Iterator[Amount]:
    """Yield the sum after each `label`: the last one of its row, or else the one below it."""
    for after, below in _places(rows, rf"{START}(?:{label})"):
        said = [amount for text in after if (amount := one_amount(text))]
        said = said[-1:] or [amount for text in below if (amount := one_amount(text))][:1]
        yield from said


def _currency(rows: Sequence[Row], sign: str | None) -> Found | None:
    """Take the currency beside the total, else the labelled one, else the only one in use."""
    text = _text(rows)
    if code := currency(sign, text):
        return Found(code, 1.0)
    for after, _ in _places(rows, rf"{START}(?:{labels.CURRENCY})"):
        codes = set(CODE.findall(" ".join(after)))
        if len(codes) == 1:
            return Found(codes.pop(), 1.0)
    signs = {amount.sign for amount in amounts(text) if amount.sign} | set(CODE.findall(text))
    used = {currency(sign, text) for sign in signs}
    only = used.pop() if len(used) == 1 else None
    return Found(only, 0.7) if only else None


def _first_answer(
    rows: Sequence[Row], tiers: Iterable[tuple[str, float]], read: Callable[[str], str | None]
) -> Found | None:
    """Return the one value of the first tier that has any; None when that tier has two."""
    for pattern, strength in tiers:
        found = set()
        for after, below in _places(rows, pattern):
            texts = (*after[:1], *below)
            found.add(next((value for text in texts if (value := read(text))), None))
        found.discard(None)
        if len(found) == 1:
            return Found(str(found.pop()), strength)
        if found:
            return None
    return None


def _places(rows: Sequence[Row], pattern: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield, for each label found, the texts after it in its row and those right below it."""
    remark = rf"(?:\s*\([^)]*\)|\s+in\b)?(?:\s*(?:{CODES}|[€£$¥])\s*$)?"
    label = re.compile(rf"(?:{pattern}){remark}[\s:.#]*", re.IGNORECASE)
    for index, row in enumerate(rows):
        for position, segment in enumerate(row):
            for match in label.finditer(segment.text):
                rest = segment.text[match.end() :]
                after = [rest] if rest else [right.text for right in row[position + 1 :]]
                below = rows[index + 1 : index + 3] if not rest and match.start() == 0 else []
                yield after, [low.text for line in below for low in line if _under(segment, low)]


def _under(segment: Segment, lower: Segment) -> bool:
    return lower.left < segment.right and segment.left < lower.right


def _text(rows: Iterable[Row]) -> str:
    return "\n".join(segment.text for row in rows for segment in row)
