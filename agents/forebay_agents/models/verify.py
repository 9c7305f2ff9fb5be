"""Let an answer's values count only where the document says them, and say how surely they do."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import islice

from forebay_agents.findings import (
    AMOUNTS,
    DATES,
    PARTIES,
    Evidence,
    Findings,
    Found,
    Line,
    Name,
)
from forebay_agents.models import readings
from forebay_agents.models.answer import Answer, Item, Stated
from forebay_agents.models.evidence import Place, Sheet, places, plain, squeezed
from forebay_agents.pages import Page

NAMED: tuple[Name, ...] = ("kind", "number", "currency", "seller", "buyer")

LABELLED = 0.9
"""A value in a row of its own, beside words that name it."""
BARE = 0.7
"""A number, day or name that no word beside it names, as in the head of a letter."""
UNSETTLED = 0.45
"""A sum that no known word beside it names, or a total beside other totals: the rules' labelled
sum goes before it."""
AMBIGUOUS = 0.5
"""A day that its words state in two ways, of which the model chose one."""
TOLD = 0.4
"""A value that stands in a sentence only, or sums that contradict each other."""

LONGEST_LABEL = 8
"""Words in a row with a label and its value; more make a sentence. Wide letters count half."""

LONGEST_LABELLED = 250
"""Characters of such a row, gaps included."""

LONGEST_QUOTE = 200
"""Characters of a quote: a longer one would bear out anything."""

ROWS_OF_ITEM = 4
"""Rows from a line item's description down in which its numbers stand."""

_LATIN = r"[^\W_\u3040-\u30ff\u3400-\u9fff]"
"""A letter of a script that parts words, or a digit."""
_EDGE = rf"(?:(?<!{_LATIN})|(?!{_LATIN}))"
"""Where no word is cut in two."""
_WORDS = re.compile(r"[^\W\d_]{2,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def verified(answer: Answer, pages: Sequence[Page]) -> Findings:
    """Return what the pages bear out of an answer about them; the notes tell what they do not."""
    sheets = [Sheet(page) for page in pages]
    fields: dict[Name, Found] = {}
    notes: list[str] = []
    for name in (*NAMED, *DATES, *AMOUNTS):
        stated: Stated | None = getattr(answer, name)
        if stated is None:
            continue
        found = _found(name, stated, sheets)
        if isinstance(found, Found):
            fields[name] = found
        else:
            notes.append(f"The model's {name.replace('_', ' ')} was left out: {found}.")
    if "total" in fields and (others := list(islice(_other_totals(fields["total"], sheets), 2))):
        fields["total"] = at_most(fields["total"], UNSETTLED)
        notes += [f"The model reads total {fields['total'].value}, but {row}." for row in others]
    by_number = {sheet.number: sheet for sheet in sheets}
    lines = [line for item in answer.lines if (line := _line(item, by_number))]
    if lost := len(answer.lines) - len(lines):
        notes.append(
            f"{lost} of the model's line items were left out: they do not stand in the document so."
        )
    return Findings(fields, lines, notes)


def at_most(found: Found, most: float) -> Found:
    """Return the same value, no surer than that."""
    return found.with_confidence(min(most, found.confidence))


def _found(name: Name, stated: Stated, sheets: Sequence[Sheet]) -> Found | str:
    """Return the value with its evidence, or why there is none."""
    text = " ".join(stated.quote.split())
    if len(text) > LONGEST_QUOTE:
        return "its quote is too long to be evidence"
    where = places(sheets, text, stated.page)
    if not where:
        return "its quote stands nowhere in the document"
    value = _reader(name)(stated.value, stated.quote)
    if value is None:
        return "it does not follow from its quote"
    confidence, place = max(
        ((_confidence(name, place, stated.quote), place) for place in where), key=lambda one: one[0]
    )
    return Found(value, Evidence(text, confidence, place.page, place.box, "model"))


def _confidence(name: Name, place: Place, quote: str) -> float:
    """Return how surely a value at this place is the field's."""
    if name == "currency":
        return LABELLED
    if name not in PARTIES and _is_sentence(place.text):
        return TOLD
    if name in DATES and len(readings.days(quote)) > 1:
        return AMBIGUOUS
    if name == "kind" or name in readings.named(place.text) or name in _headings(place):
        return LABELLED
    return UNSETTLED if name in AMOUNTS else BARE


def _headings(place: Place) -> set[Name]:
    """Return the fields that headings over the place name: a row without any digit."""
    return set() if re.search(r"\d", place.above) else readings.named(place.above)


def _other_totals(total: Found, sheets: Sequence[Sheet]) -> Iterator[str]:
    """Say which rows name another total than this: what documents order may look like a row."""
    for sheet in sheets:
        for row in sheet.rows:
            if not _is_sentence(row) and "total" in readings.named(row):
                stated = readings.sums(row)
                if stated and abs(Decimal(total.value)) not in stated:
                    yield f"page {sheet.number} says “{' '.join(row.split())}”"


def _is_sentence(text: str) -> bool:
    wide = len(_WIDE.findall(text))
    words = len(_WORDS.findall(_WIDE.sub(" ", text))) + wide / 2
    return words > LONGEST_LABEL or len(text) > LONGEST_LABELLED


def _reader(name: Name) -> Callable[[str, str], str | None]:
    """Return the function that gives a field's value in plain form if its quote states it."""
    if name in AMOUNTS:
        return _amount
    if name in DATES:
        return _day
    return {"kind": _kind, "currency": _currency}.get(name, _printed)


def _kind(value: str, quote: str) -> str | None:
    """Return the kind unless the quote names others only; a title may be one that nobody knows."""
    named = readings.kinds(quote)
    return value if value in named or not named else None


def _printed(value: str, quote: str) -> str | None:
    """Return the value if its words stand in the quote, whole."""
    value = " ".join(value.split())
    spelled = r"\s*".join(map(re.escape, squeezed(value)))
    is_said = spelled and re.search(f"{_EDGE}{spelled}{_EDGE}", plain(quote))
    return value if is_said else None


def _amount(value: str, quote: str) -> str | None:
    """Return the sum with its sign and decimals as printed in the quote."""
    return _size(value, readings.sums(quote))


def _size(value: str, printed: Mapping[Decimal, str]) -> str | None:
    """Return the printed form of a number, None when it is not printed."""
    return next((printed[one] for one in _meant(value) if one in printed), None)


def _meant(value: str) -> list[Decimal]:
    """Return how large a number a model may mean: a plain decimal is what it was asked for."""
    try:
        plain = Decimal(value.strip())
    except InvalidOperation:
        return list(readings.sums(value))
    return [abs(plain)] if plain.is_finite() else []


def _day(value: str, quote: str) -> str | None:
    said = readings.days(quote)
    try:
        meant = {date.fromisoformat(value.strip())}
    except ValueError:
        meant = readings.days(value)
    both = meant & said
    return both.pop().isoformat() if len(both) == 1 else None


def _currency(value: str, quote: str) -> str | None:
    code = value.strip().upper()
    return code if code in readings.codes(quote) else None


def _line(item: Item, sheets: Mapping[int, Sheet]) -> Line | None:
    """Return a line item whose words and numbers stand together, with the numbers as printed."""
    numbers = {"quantity": item.quantity, "unit_price": item.unit_price, "amount": item.amount}
    words = item.description.split()
    for place in _beginnings(words, item.page, list(sheets.values())):
        rows = range(place.rows.start, place.rows.stop - 1 + ROWS_OF_ITEM)
        near = sheets[place.page].text(rows)
        printed, spelled = readings.sums(near), squeezed(near)
        said = {name: _size(value, printed) if value else None for name, value in numbers.items()}
        is_whole = all(squeezed(word) in spelled for word in words)
        if is_whole and all(said[name] for name, value in numbers.items() if value):
            return Line(" ".join(words), page=place.page, **said)
    return None


def _beginnings(words: Sequence[str], page: int, sheets: Sequence[Sheet]) -> list[Place]:
    """Return where a description begins: its other words may stand beyond its row's numbers."""
    while words:
        if found := places(sheets, "".join(words), page):
            return found
        words = words[: len(words) // 2]
    return []
